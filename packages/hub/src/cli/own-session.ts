import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Agent, type Client, createClient, openAgent } from '@parley/client';
import { sendToClaudeInbox } from '@parley/runtimes';
import { WebSocket } from 'ws';

import { TRIAL } from './init/try-server.ts';

/** The runtime that started this process as its MCP server, as far as it says so. */
export interface HostSession {
  runtime: string;
  /** By which it is resumed; not every program has such a thing. */
  id?: string;
  /** A supervisor has the session in its hands, and takes its wakes. */
  supervised?: boolean;
  /** Where Claude Code takes messages for this very session; it stays in this process. */
  inbox?: { socket: string; token: string; configFolder: string };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Reads what Claude Code gives its children, and takes the keys of its inbox out of the environment. */
export function claudeSession(env: NodeJS.ProcessEnv): HostSession | undefined {
  const { CLAUDE_CODE_SESSION_ID: id, CLAUDE_CODE_MESSAGING_SOCKET: socket } = env;
  const token = env['CLAUDE_CODE_MESSAGING_TOKEN'];
  delete env['CLAUDE_CODE_MESSAGING_TOKEN'];
  delete env['CLAUDE_CODE_MESSAGING_SOCKET'];
  if (id === undefined || !UUID.test(id)) return undefined;
  const configFolder = env['CLAUDE_CONFIG_DIR'] ?? join(homedir(), '.claude');
  const hasInbox = socket !== undefined && token !== undefined;
  const supervised = env['PARLEY_SUPERVISED'] === '1';
  return {
    runtime: 'claude_code',
    id,
    supervised,
    ...(hasInbox ? { inbox: { socket, token, configFolder } } : {}),
  };
}

/** Codex names its thread beside each call. */
export function codexSession(message: { params?: unknown }): HostSession | undefined {
  const { _meta: meta } = (message.params ?? {}) as { _meta?: { threadId?: unknown } };
  const id = meta?.threadId;
  return typeof id === 'string' && UUID.test(id) ? { runtime: 'codex_cli', id } : undefined;
}

/** Any other client by the name it gives itself. Codex is left to name its thread, which comes with its first call. */
export function plainSession(clientName: string | undefined): HostSession | undefined {
  if (clientName === undefined || clientName === TRIAL || /codex/i.test(clientName)) return undefined;
  return {
    runtime:
      clientName
        .replaceAll(/[^ -~]/g, '')
        .trim()
        .slice(0, 64) || 'mcp',
  };
}

export interface OwnSessionDeps {
  url: () => Promise<string>;
  /** The hub at this address does not answer: it may be back elsewhere. */
  lost: (url: string) => void;
  token: () => Promise<string>;
  /** The name that people see. */
  name: () => string;
  proofMs: number;
  onFault: (error: unknown) => void;
}

/** Shows the hub that the session lives and by which id it is resumed, and takes its wakes where it has an inbox. */
export function createOwnSession(deps: OwnSessionDeps) {
  let opening: Promise<Agent | { close(): Promise<void> }> | undefined;
  let shown: Promise<unknown> | undefined;
  let usedAt = -Infinity;
  const isAtWork = (): boolean => performance.now() - usedAt < AT_WORK_MS;

  async function open(session: HostSession): Promise<Agent | { close(): Promise<void> }> {
    const { token, name } = deps;
    let at = '';
    const url = async (): Promise<string> => (at = await deps.url());
    const lost = (): void => deps.lost(at);
    const { inbox, id, runtime } = session;
    const about = id === undefined ? { resumable: false } : { resumable: true, native_session_id: id };
    const client = createClient({ url, token, patienceMs: LEAVE_MS });
    if (
      inbox === undefined ||
      id === undefined ||
      session.supervised === true ||
      (await isSupervised(client, token))
    )
      return beating(client, { ...about, runtime }, isAtWork, lost);
    return openAgent({
      url,
      token,
      name: name(),
      runtime,
      session: about,
      WebSocket,
      patienceMs: LEAVE_MS,
      onConnection: (state) => void (state === 'lost' && lost()),
      commands: {
        wake: ({ prompt, trigger_id, force }) =>
          sendToClaudeInbox(
            { ...inbox, sessionId: id },
            {
              prompt: String(prompt),
              mark: String(trigger_id),
              force: force === true,
              proofMs: deps.proofMs,
            },
          ),
      },
    });
  }

  return {
    /** Begins with the first that is known of the session. */
    begin(session: HostSession | undefined): void {
      if (session === undefined || opening !== undefined) return;
      opening = open(session);
      opening.catch((error: unknown) => {
        // Who may not say that it lives is not asked again at each message.
        if ((error as { code?: unknown }).code !== 'FORBIDDEN') opening = undefined;
        deps.onFault(error);
      });
    },
    /** The hub knows of the session, or had its time to, once: a client may end us with its first answer. */
    async shown(): Promise<void> {
      shown ??= Promise.race([opening?.catch(() => {}), sleep(LEAVE_MS, undefined, { ref: false })]);
      await shown;
    },
    /** The model has called a tool. */
    used: () => void (usedAt = performance.now()),
    async close(): Promise<void> {
      const opened = await opening?.catch(() => undefined);
      await opened?.close().catch(deps.onFault);
    },
  };
}

/** How long the leave of a session may be tried to be told. */
const LEAVE_MS = 1_000;
const BEAT_MS = 20_000;
/** So long after a call its model counts as being at work: nothing else shows it. */
const AT_WORK_MS = 60_000;

/** A supervisor has this agent's connection: its commands must go on reaching it. */
async function isSupervised(client: Client, token: () => Promise<string>): Promise<boolean> {
  const { agent_id } = JSON.parse(
    Buffer.from((await token()).split('.')[1] ?? '', 'base64url').toString(),
  ) as { agent_id: string };
  const found = await client.get_agent({ of_agent: agent_id }).catch(() => undefined);
  return found !== undefined && found.connected.length > 0 && found.capabilities.includes('terminal_deliver');
}

type Beat = Parameters<Client['heartbeat_session']>[0];

/** Heartbeats alone, until it is closed. */
async function beating(client: Client, about: Beat, isAtWork: () => boolean, lost: () => void) {
  const beat = (status: 'active' | 'idle' | 'offline') => client.heartbeat_session({ ...about, status });
  const live = () => beat(isAtWork() ? 'active' : 'idle');
  await live();
  const timer = setInterval(() => void live().catch(lost), BEAT_MS);
  return {
    async close(): Promise<void> {
      clearInterval(timer);
      await beat('offline');
    },
  };
}
