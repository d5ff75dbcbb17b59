import { homedir } from 'node:os';
import { join } from 'node:path';

import { fieldsOf } from '@parley/protocol';
import { awaitCodexThread, claudeInbox, codexInbox, type Inbox } from '@parley/runtimes';

import { isSupervised } from '../../../supervised.ts';
import { VERSION } from '../../../version.ts';
import { untried } from '../../../wake/versions.ts';
import { TRIAL_CLIENT } from './trial-client.ts';

/** The runtime that started this process as its MCP server, as far as it says so. */
export interface HostSession {
  runtime: string;
  /** By which it is resumed, once it is known; not every program has such a thing. */
  id: string | undefined;
  /** A supervisor has the session in its hands, and takes its wakes. */
  supervised: boolean;
  /** Where its runtime keeps its records of sessions, and everything else; of other programs nobody knows. */
  home?: string;
  /** Where this very session takes messages; its keys stay in this process. */
  inbox?: Inbox;
}

type Env = NodeJS.ProcessEnv;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const REQUEST_MS = 10_000;
/** How long Codex may take to have its thread on disk. */
const THREAD_MS = 1_000;

/** Reads what Claude Code gives its children, and takes the keys of its inbox out of the environment. */
export function claudeSession(env: Env): HostSession | undefined {
  const { CLAUDE_CODE_SESSION_ID: id, CLAUDE_CODE_MESSAGING_SOCKET: socket } = env;
  const token = env['CLAUDE_CODE_MESSAGING_TOKEN'];
  delete env['CLAUDE_CODE_MESSAGING_TOKEN'];
  delete env['CLAUDE_CODE_MESSAGING_SOCKET'];
  if (id === undefined || !UUID.test(id)) return undefined;
  const configFolder = env['CLAUDE_CONFIG_DIR'] ?? join(homedir(), '.claude');
  const host = { runtime: 'claude_code', id, home: configFolder, supervised: isSupervised(env) };
  if (socket === undefined || token === undefined) return host;
  return { ...host, inbox: claudeInbox({ socket, token, sessionId: id, configFolder }) };
}

/** The thread that Codex names beside a call. */
export function codexThread(message: { params?: unknown }): string | undefined {
  const id = fieldsOf(fieldsOf(message.params)['_meta'])['threadId'];
  return typeof id === 'string' && UUID.test(id) ? id : undefined;
}

/** Codex starts its servers for a thread, and others only to ask what they offer: those hear nothing of its sign-in. */
export function isCodexThread({ params }: { params?: unknown }): boolean {
  const { clientInfo, capabilities } = fieldsOf(params);
  const { experimental } = fieldsOf(capabilities);
  return isCodex(fieldsOf(clientInfo)['name']) && fieldsOf(experimental)['codex/auth-change'] !== undefined;
}

/** A session of Codex: its thread is the one a call has named, else the one that was opened just before this process. */
export async function codexSession(
  env: Env,
  { named, anyVersion }: { named: () => string | undefined; anyVersion: boolean },
): Promise<HostSession> {
  const home = env['CODEX_HOME'] ?? join(homedir(), '.codex');
  const host: HostSession = {
    runtime: 'codex_cli',
    id: await awaitCodexThread(home, { startedAt: performance.timeOrigin, withinMs: THREAD_MS, named }),
    home,
    supervised: isSupervised(env),
  };
  const inbox = codexInbox({
    home,
    threadId: () => host.id,
    clientInfo: { name: 'parley', version: VERSION },
    requestMs: REQUEST_MS,
    refuse: (version) => (anyVersion ? undefined : untried('codex_socket', version)),
  });
  return Object.assign(host, { inbox });
}

/** Any other client by the name it gives itself. */
export function plainSession(clientName: string | undefined): HostSession | undefined {
  if (clientName === undefined || clientName === TRIAL_CLIENT || isCodex(clientName)) return undefined;
  const runtime = clientName
    .replaceAll(/[^ -~]/g, '')
    .trim()
    .slice(0, 64);
  return { runtime: runtime || 'mcp', id: undefined, supervised: false };
}

function isCodex(name: unknown): boolean {
  return typeof name === 'string' && /codex/i.test(name);
}
