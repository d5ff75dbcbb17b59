import { type InputOf, tableOf } from '@parley/protocol';

import { type AgentSocket, openAgentSocket, type SocketConstructor } from './agent-socket.ts';
import { createCaller } from './caller.ts';
import type { Client } from './client.ts';
import type { CommandHandler } from './command-handler.ts';
import { type HttpAnswer, type ClientOptions, createTransport } from './transport.ts';
import { wakeOnce } from './wake-once.ts';

export interface PresenceOptions extends Pick<ClientOptions, 'url' | 'token'> {
  /** The name that people see. */
  name: string;
  type?: 'atreides' | 'sisyphus' | 'custom';
  /** What the agent runs on, for its heartbeats. */
  runtime?: string;
  /** What its heartbeats say of the session beside its status: that a supervisor manages it, by which id it is resumed. */
  session?: Omit<InputOf<'heartbeat_session'>, 'runtime' | 'status'>;
  metadata?: Record<string, unknown>;
  /** The commands it takes, by name; with any of them it stays connected by WebSocket. */
  commands?: Record<string, CommandHandler>;
  /** Those of them that only look: one that comes again is done again, and its answer is not kept. */
  repeatable?: readonly string[];
  /** How often it shows that it lives; 20 s when left out. */
  heartbeatMs?: number;
  /** The longest wait between two tries to connect again; 15 s when left out. */
  reconnectMs?: number;
  /** Another WebSocket than the global one, such as that of the package `ws`. */
  WebSocket?: SocketConstructor;
  /** Hears when the connection for commands comes, goes, or was taken over by another of the same session. */
  onConnection?: (state: 'open' | 'lost' | 'replaced', reason: string) => void;
}

type AgentStatusWord = InputOf<'update_agent_status'>['status'];

/** An agent that is there: it is registered, beats, and takes commands. */
export interface Presence {
  agentId: string;
  /** Says what the agent is at; people see it at once. */
  status(status: AgentStatusWord, metadata?: Record<string, unknown>): Promise<void>;
  /** Takes leave. */
  close(): Promise<void>;
}

/** The calls that it takes to be there, to put something into the journal, and to tell what was used. */
export type PresenceCalls = Pick<Client, (typeof PRESENCE_CALLS)[number]>;

/** Each takes an idempotency key, and none waits at the hub. */
export const PRESENCE_CALLS = [
  'register_agent',
  'update_agent_status',
  'heartbeat_session',
  'report_event',
  'report_usage',
] as const;

/** The calls of a presence and no others: a small program need not hold every contract for them. */
export function createPresenceCalls(
  options: Pick<ClientOptions, 'url' | 'token' | 'timeoutMs' | 'patienceMs'>,
  send: (url: string, init: RequestInit) => Promise<HttpAnswer>,
): PresenceCalls {
  const call = createCaller(createTransport(options, send), options);
  // Each of these calls gives what its contract says.
  return tableOf(
    PRESENCE_CALLS,
    (name) => (input: object) => call(name, input, { keyed: true, waitMs: 0 }),
  ) as PresenceCalls;
}

const HEARTBEAT_MS = 20_000;

/** Registers an agent and keeps it alive until it is closed. */
export async function openPresence(client: PresenceCalls, options: PresenceOptions): Promise<Presence> {
  const { name, type = 'custom', metadata, runtime = 'parley-client' } = options;
  const { wake } = options.commands ?? {};
  const commands = wake === undefined ? options.commands : { ...options.commands, wake: wakeOnce(wake) };
  const capabilities = Object.keys(commands ?? {});
  const shared = { name, type, capabilities, ...(metadata === undefined ? {} : { metadata }) };
  const { agent_id: agentId } = await client.register_agent(shared);
  let stands: { status: AgentStatusWord; metadata?: Record<string, unknown> } = { status: 'online' };

  const sendBeat = async (): Promise<void> => {
    const status = stands.status === 'offline' ? 'offline' : stands.status === 'online' ? 'idle' : 'active';
    await client.heartbeat_session({ ...options.session, runtime, status });
  };
  let lastBeat: Promise<void> = Promise.resolve();
  let underWay = 0;
  /** One after the other: each may go to another node, and the older word must not arrive last. */
  const beat = (): Promise<void> => {
    underWay++;
    lastBeat = lastBeat
      .catch(() => {})
      .then(sendBeat)
      .finally(() => underWay--);
    return lastBeat;
  };
  await client.update_agent_status(stands);
  await beat();
  // One that is lost is followed by the next.
  const again = (): void => {
    if (underWay === 0) beat().catch(() => {});
  };
  const timer = setInterval(again, options.heartbeatMs ?? HEARTBEAT_MS);

  let socket: AgentSocket | undefined;
  if (commands !== undefined) {
    socket = openAgentSocket({
      url: options.url,
      token: options.token,
      agentId,
      WebSocket: options.WebSocket ?? globalSocket(),
      longestWaitMs: options.reconnectMs,
      registration: (endpoint) => ({ agentId, ...shared, endpoint }),
      status: () => ({ ...stands, capabilities }),
      isRepeatable: (command) => options.repeatable?.includes(command) === true,
      async onCommand(command, parameters, source) {
        const handler = Object.hasOwn(commands, command) ? commands[command] : undefined;
        if (handler === undefined)
          throw Object.assign(new Error(`${name} does not know ${command}`), { code: 'INVALID_COMMAND' });
        return handler(parameters, source);
      },
      onChange: (state, reason) => options.onConnection?.(state, reason),
    });
  }

  return {
    agentId,
    async status(status, details) {
      stands = { status, ...(details === undefined ? {} : { metadata: details }) };
      await client.update_agent_status(stands);
      await beat();
    },
    async close() {
      clearInterval(timer);
      socket?.close();
      stands = { status: 'offline' };
      await client.update_agent_status(stands);
      await beat();
    },
  };
}

function globalSocket(): SocketConstructor {
  // Browsers and newer Nodes have one.
  const { WebSocket } = globalThis as { WebSocket?: SocketConstructor };
  if (WebSocket === undefined)
    throw new Error('there is no WebSocket here: give one, such as that of the package ws');
  return WebSocket;
}
