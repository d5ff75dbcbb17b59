import * as z from 'zod';

import { AGENTS } from './agent-settings.ts';
import { KNOWLEDGE } from './knowledge-settings.ts';
import { OIDC } from './oidc-settings.ts';
import { WORKSPACE } from './run-defaults.ts';
import { SERVER } from './server-settings.ts';
import { serverUrl } from './setting-kinds.ts';

/** Everything that can be set, with its default and one sentence; defaults < TOML file < PARLEY_* < flags. */
export const ConfigSchema = z.strictObject({
  data: z.string().min(1).describe('folder that holds all state; made with mode 0700'),
  store: serverUrl(
    ['postgres', 'postgresql'],
    'PostgreSQL that holds the record, for several nodes at once; empty: the data folder holds it',
  ),
  nats: serverUrl(['nats', 'tls'], 'NATS that carries news between nodes; empty: PostgreSQL does'),
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('address to listen on; other than loopback needs tls'),
  port: z.number().int().min(0).max(65_535).default(8620).describe('port to listen on; 0 takes a free one'),
  workspace: z
    .string()
    .min(1)
    .default(WORKSPACE)
    .describe('workspace of the local person and of agents that name none'),
  check_answers: z
    .boolean()
    .default(false)
    .describe(
      'hold every answer against its contract; one that differs is an INTERNAL error, told in the log',
    ),
  log: SERVER.log,
  tls: SERVER.tls,
  lan: SERVER.lan,
  http: SERVER.http,
  limits: SERVER.limits,
  quota: SERVER.quota,
  managed: AGENTS.managed,
  idempotency: SERVER.idempotency,
  sessions: AGENTS.sessions,
  usage: AGENTS.usage,
  asks: AGENTS.asks,
  presence: AGENTS.presence,
  auth: SERVER.auth,
  oidc: OIDC,
  mcp: SERVER.mcp,
  live: AGENTS.live,
  wake: AGENTS.wake,
  notify: AGENTS.notify,
  terminal: AGENTS.terminal,
  envelope: KNOWLEDGE.envelope,
  metrics: SERVER.metrics,
  artifacts: KNOWLEDGE.artifacts,
  queue: KNOWLEDGE.queue,
  knowledge: KNOWLEDGE.knowledge,
  search: KNOWLEDGE.search,
  answer: KNOWLEDGE.answer,
  summary: KNOWLEDGE.summary,
});

export type Config = z.output<typeof ConfigSchema>;
