import { HUB_NAME, type LiveMessage, type Role, fieldsOf } from '@parley/protocol';

import { type Address, findHub, type Token } from './transport.ts';

/** As much of a WebSocket as is needed: the global one of browsers, and that of the package `ws`. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}

export type SocketConstructor = new (url: string, protocols: string[]) => Socket;

export interface SocketOptions {
  url: Address;
  token: Token;
  agentId: string;
  WebSocket: SocketConstructor;
  /** What is said first on every connection, as the parameters of `register_agent`. */
  registration: (endpoint: string) => Record<string, unknown>;
  /** Hears each command once; what it gives back is the result. */
  onCommand: (
    command: string,
    parameters: Record<string, unknown>,
    source: { agentId: string; role: Role | undefined },
  ) => Promise<unknown>;
  /** True for a command whose answer need not be kept for the case that it comes again. */
  isRepeatable: (command: string) => boolean;
  /** How the agent stands, for those who ask. */
  status: () => Record<string, unknown>;
  /** The longest wait between two tries to connect again. */
  longestWaitMs?: number | undefined;
  /** Hears that the agent is connected and registered, or that it is gone and why. */
  onChange: (state: 'open' | 'lost' | 'replaced', reason: string) => void;
}

/** A lasting connection to `/ws` that comes back by itself. */
export interface AgentSocket {
  close(): void;
}

type Response = LiveMessage<'command_response'>['payload'];

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 15_000;
/** A connection that lived this long was a good one: the next wait is short again. */
const LIVED_MS = 5_000;
/** How many answers are kept for commands that come again. */
const KEPT = 1_000;
/** The same session has connected elsewhere: to come back would be to fight over it. */
const REPLACED = 4409;

/** Connects, registers, and answers each command once, over every broken connection. */
export function openAgentSocket(options: SocketOptions): AgentSocket {
  const answersById = new Map<string, Promise<Response>>();
  /** Answers that no connection has taken yet. */
  const unsent: { target: string; payload: Response }[] = [];
  let socket: Socket | undefined;
  let isOpen = false;
  let closed = false;
  let tries = 0;
  let registering = '';
  let timer: ReturnType<typeof setTimeout> | undefined;

  function say(type: string, target: string, payload: unknown): string {
    const id = newUuid();
    const timestamp = new Date().toISOString();
    socket?.send(JSON.stringify({ id, type, timestamp, source: options.agentId, target, payload }));
    return id;
  }

  function respond(target: string, payload: Response): void {
    if (isOpen) say('command_response', target, payload);
    else if (unsent.push({ target, payload }) > KEPT) unsent.shift();
  }

  async function hear(data: unknown): Promise<void> {
    const message = readMessage(data);
    if (message === undefined) return;
    const { id, source } = message;
    if (answers(message, registering)) registered(message);
    else if (message.type === 'status_request') {
      say('status_update', source, { agentId: options.agentId, ...options.status(), requestId: id });
    } else if (message.type === 'command') {
      const asked = fieldsOf(message.payload);
      const known = answersById.get(id);
      const answer = known ?? run(message, asked, options);
      if (!options.isRepeatable(String(asked['command']))) answersById.set(id, answer);
      for (const oldest of answersById.keys()) {
        if (answersById.size <= KEPT) break;
        answersById.delete(oldest);
      }
      respond(source, await answer);
    }
  }

  function registered({ type, payload }: LiveMessage): void {
    registering = '';
    if (type === 'error') {
      const { message } = fieldsOf(payload);
      socket?.close(1000, String(message).slice(0, 100));
      return;
    }
    // To register is to be online; what else the agent is at is said again.
    const stands = options.status();
    if (stands['status'] !== 'online')
      say('status_update', HUB_NAME, { agentId: options.agentId, ...stands });
    options.onChange('open', '');
  }

  async function connect(): Promise<void> {
    timer = undefined;
    const endpoint = `${(await findHub(options.url)).replace(/^http/, 'ws')}/ws`;
    const token = typeof options.token === 'string' ? options.token : await options.token();
    if (closed) return;
    const opening = new options.WebSocket(`${endpoint}?version=1.0`, ['parley.v1', `bearer.${token}`]);
    const startedAt = performance.now();
    socket = opening;
    opening.onopen = () => {
      isOpen = true;
      const parameters = options.registration(endpoint);
      registering = say('command', HUB_NAME, { command: 'register_agent', parameters });
      for (const { target, payload } of unsent.splice(0)) say('command_response', target, payload);
    };
    opening.onmessage = ({ data }: { data: unknown }) => void hear(data);
    opening.onerror = () => {};
    opening.onclose = ({ code, reason }: { code: number; reason: string }) => {
      isOpen = false;
      if (closed) return;
      if (code === REPLACED) {
        closed = true;
        options.onChange('replaced', reason);
        return;
      }
      if (performance.now() - startedAt > LIVED_MS) tries = 0;
      options.onChange('lost', reason === '' ? `closed with ${code}` : reason);
      retry();
    };
  }

  function retry(): void {
    const wait =
      Math.min(options.longestWaitMs ?? LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries++) *
      (0.5 + Math.random() / 2);
    timer = setTimeout(start, wait);
  }

  function start(): void {
    connect().catch((error: unknown) => {
      if (closed) return;
      options.onChange('lost', error instanceof Error ? error.message : String(error));
      retry();
    });
  }

  start();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      socket?.close(1000, 'the agent ends');
    },
  };
}

function readMessage(data: unknown): LiveMessage | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const message = fieldsOf(JSON.parse(data));
    // The hub has checked what it passes on: only what is no message at all is left out.
    const isMessage = ['id', 'type', 'source'].every((word) => typeof message[word] === 'string');
    // As is said above.
    return isMessage ? (message as unknown as LiveMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** True for the answer to the message of this id. */
function answers({ payload }: LiveMessage, id: string): boolean {
  const { requestId, details } = fieldsOf(payload);
  return id !== '' && (requestId === id || fieldsOf(details)['requestId'] === id);
}

/** A UUID v4; the browser's own maker of them is there on secure pages only. */
function newUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

async function run(
  { id: requestId, source, sourceRole }: LiveMessage,
  { command, parameters }: { command?: unknown; parameters?: unknown },
  { onCommand }: SocketOptions,
): Promise<Response> {
  const started = performance.now();
  const took = (): number => Math.round(performance.now() - started);
  try {
    const result = await onCommand(String(command), fieldsOf(parameters), {
      agentId: source,
      role: sourceRole,
    });
    return { requestId, success: true, ...(result === undefined ? {} : { result }), executionTime: took() };
  } catch (error) {
    const { code, details } = fieldsOf(error);
    const message = error instanceof Error ? error.message : String(error);
    const reported = {
      code: typeof code === 'string' ? code : 'INTERNAL_ERROR',
      message: message.slice(0, 8_000),
      ...(details === undefined ? {} : { details }),
    };
    return { requestId, success: false, error: reported, executionTime: took() };
  }
}
