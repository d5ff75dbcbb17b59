import type { Ask, AskVerdict, InputOf, OutputOf, Role } from '@parley/protocol';

import { type AgentSocket, openAgentSocket, type SocketConstructor } from './agent-socket.ts';
import { type Client, createClient } from './client.ts';
import { createPatience } from './patience.ts';
import type { CallOptions, ClientOptions } from './transport.ts';

/** Who sent a command, as the hub has verified it. */
export interface CommandSource {
  agentId: string;
  /** Undefined from a hub that does not say. */
  role: Role | undefined;
}

/** Does one command; what it gives back is the result, what it throws is the error. */
export type CommandHandler = (parameters: Record<string, unknown>, source: CommandSource) => unknown;

export interface AgentOptions extends ClientOptions {
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
  /** How often it shows that it lives; 20 s when left out. */
  heartbeatMs?: number;
  /** Another WebSocket than the global one, such as that of the package `ws`. */
  WebSocket?: SocketConstructor;
  /** Hears when the connection for commands comes, goes, or was taken over by another of the same session. */
  onConnection?: (state: 'open' | 'lost' | 'replaced', reason: string) => void;
}

type Status = InputOf<'update_agent_status'>['status'];

/** An agent at the hub: it is registered, beats, takes commands and asks people. */
export interface Agent {
  agentId: string;
  /** Everything else the hub can do, as this agent. */
  client: Client;
  /** Says what the agent is at; people see it at once. */
  status(status: Status, metadata?: Record<string, unknown>): Promise<void>;
  /** Reports a task's course, a warning or an error. */
  event(
    event_type: InputOf<'report_event'>['event_type'],
    data?: Record<string, unknown>,
    thread_id?: string,
  ): Promise<OutputOf<'report_event'>>;
  /** Puts something before a person and waits for the verdict, over restarts of the hub too; denied when time runs out. */
  ask(ask: InputOf<'raise_ask'>, options?: CallOptions): Promise<AskVerdict>;
  /** Takes leave. */
  close(): Promise<void>;
}

const HEARTBEAT_MS = 20_000;
const WAIT_MS = 60_000;

/** Registers an agent and keeps it alive until it is closed. */
export async function openAgent(options: AgentOptions): Promise<Agent> {
  const { name, type = 'custom', metadata, commands, runtime = 'parley-client' } = options;
  const client = createClient(options);
  const capabilities = Object.keys(commands ?? {});
  const shared = { name, type, capabilities, ...(metadata === undefined ? {} : { metadata }) };
  const { agent_id: agentId } = await client.register_agent(shared);
  let stands: { status: Status; metadata?: Record<string, unknown> } = { status: 'online' };

  const beat = async (): Promise<void> => {
    const status = stands.status === 'offline' ? 'offline' : stands.status === 'online' ? 'idle' : 'active';
    await client.heartbeat_session({ ...options.session, runtime, status });
  };
  await client.update_agent_status(stands);
  await beat();
  // One that is lost is followed by the next.
  const timer = setInterval(() => void beat().catch(() => {}), options.heartbeatMs ?? HEARTBEAT_MS);

  let socket: AgentSocket | undefined;
  if (commands !== undefined) {
    socket = openAgentSocket({
      url: options.url,
      token: options.token,
      agentId,
      WebSocket: options.WebSocket ?? globalSocket(),
      registration: (endpoint) => ({ agentId, ...shared, endpoint }),
      status: () => ({ ...stands, capabilities }),
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
    client,
    async status(status, details) {
      stands = { status, ...(details === undefined ? {} : { metadata: details }) };
      await client.update_agent_status(stands);
      await beat();
    },
    event: (event_type, data = {}, thread_id) =>
      client.report_event({ event_type, data, ...(thread_id === undefined ? {} : { thread_id }) }),
    ask: (ask, callOptions = {}) => awaitVerdict(client, ask, callOptions),
    async close() {
      clearInterval(timer);
      socket?.close();
      stands = { status: 'offline' };
      await client.update_agent_status(stands);
      await beat();
    },
  };
}

async function awaitVerdict(
  client: Client,
  raising: InputOf<'raise_ask'>,
  options: CallOptions,
): Promise<AskVerdict> {
  let { ask }: { ask: Ask } = await client.raise_ask(raising, options);
  // The ask stands at the hub, whatever happens to the connection: there is no reason to give up on it.
  const patience = createPatience(Infinity);
  for (;;) {
    try {
      ({ ask } = await client.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: WAIT_MS }, options));
      if (ask.verdict !== undefined) return ask.verdict;
      patience.renew();
    } catch (error) {
      options.signal?.throwIfAborted();
      await patience.wait(error, options.signal);
    }
  }
}

function globalSocket(): SocketConstructor {
  const { WebSocket } = globalThis as { WebSocket?: SocketConstructor };
  if (WebSocket === undefined)
    throw new Error('there is no WebSocket here: give one, such as that of the package ws');
  return WebSocket;
}
