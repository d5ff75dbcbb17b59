import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { entriesOf } from '@parley/protocol';
import { type Client, createClient } from '@parley/client';

import { issueToken } from '../../../auth/issue-token.ts';
import type { Config } from '../../../config/schema.ts';
import type { RunningHub } from '../../../start.ts';
import { personName } from '../../connect.ts';
import { DAY_AGENTS, type DayAgent, playDay } from './demo-day.ts';

/** The configuration of a hub that is there to be looked at: a folder of its own, gone when the hub stops. */
export function demoConfig(config: Config): Config {
  const folder = mkdtempSync(join(tmpdir(), 'parley-demo-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return { ...config, data: join(folder, 'data') };
}

const HEARTBEAT_MS = 20_000;

/** Fills a hub with a recorded day, and keeps its agents alive. */
export async function fillDemo(hub: RunningHub, config: Config): Promise<void> {
  const enrolled = Object.entries(DAY_AGENTS).map(async ([agent_id, { role }]) => {
    const request = {
      agent_id,
      workspace_id: config.workspace,
      role,
      session_id: `${agent_id}-1`,
      ttl_ms: 86_400_000,
    };
    const { token } = await issueToken(config, request, Date.now());
    return [agent_id, createClient({ url: hub.url, token })];
  });
  // Each name got its client above.
  const clients = Object.fromEntries(await Promise.all(enrolled)) as Record<DayAgent, Client>;
  await playDay(clients, personName());
  setInterval(() => {
    for (const [name, client] of entriesOf(clients)) {
      const status = name === 'atreides' || name === 'reviewer' ? 'active' : 'idle';
      const { runtime } = DAY_AGENTS[name];
      client.heartbeat_session({ runtime, status, resumable: true }).catch(() => {});
    }
  }, HEARTBEAT_MS).unref();
}
