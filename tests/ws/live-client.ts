import { randomUUID } from 'node:crypto';

import type { LiveType } from '@parley/protocol';
import { expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** A message as it came, unchecked. */
export interface Heard {
  id: string;
  type: LiveType;
  timestamp: string;
  source: string;
  target?: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  payload: any;
}

export interface Closed {
  code: number;
  reason: string;
}

/** A real client of `/ws`. */
export interface LiveClient {
  agent: string;
  ws: WebSocket;
  heard: Heard[];
  closed: Promise<Closed>;
  /** The close, when it has happened. */
  end(): Closed | undefined;
  /** Sends a message; its id. */
  say(type: LiveType, target: string | undefined, payload?: unknown, more?: Record<string, unknown>): string;
  /** Sends a message and waits for what answers it. */
  ask(
    type: LiveType,
    target: string | undefined,
    payload?: unknown,
    more?: Record<string, unknown>,
  ): Promise<Heard>;
  /** A command to the hub that must succeed; its result. */
  hub<T = Record<string, unknown>>(command: string, parameters?: Record<string, unknown>): Promise<T>;
  /** The first message, past or to come, that fits. */
  until(fits: (message: Heard) => boolean, ms?: number): Promise<Heard>;
  on(listener: (message: Heard) => void): void;
  close(): Promise<Closed>;
}

export interface DialOptions {
  query?: string;
  headers?: Record<string, string>;
  protocols?: string[];
  /** Kept open when the test ends. */
  lasting?: boolean;
}

const WAIT_MS = 10_000;

/** Connects as an agent; throws the HTTP answer when there is no upgrade. */
export async function dial(
  url: string,
  agent: string,
  token: string | undefined,
  options: DialOptions = {},
): Promise<LiveClient> {
  const { query = '?version=1.0', headers = {}, protocols = [] } = options;
  const ws = new WebSocket(`${url.replace('http', 'ws')}/ws${query}`, protocols, {
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
  });
  const heard: Heard[] = [];
  const listeners = new Set<(message: Heard) => void>();
  let end: Closed | undefined;
  const closed = new Promise<Closed>((resolve) =>
    ws.on('close', (code, reason) => resolve((end = { code, reason: reason.toString() }))),
  );
  ws.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Heard;
    heard.push(message);
    for (const listener of listeners) listener(message);
  });
  await opened(ws);
  if (options.lasting !== true) onTestFinished(() => ws.terminate());
  const client: LiveClient = {
    agent,
    ws,
    heard,
    closed,
    end: () => end,
    say(type, target, payload, more = {}) {
      const message = envelope(agent, type, target, payload, more);
      ws.send(JSON.stringify(message));
      return message['id'] as string;
    },
    async ask(type, target, payload, more) {
      const id = client.say(type, target, payload, more);
      return client.until((message) => answers(message, id));
    },
    async hub<T>(command: string, parameters: Record<string, unknown> = {}) {
      const answer = await client.ask('command', 'parley', { command, parameters });
      expect(answer).toMatchObject({ type: 'command_response', payload: { success: true } });
      return answer.payload.result as T;
    },
    until(fits, ms = WAIT_MS) {
      const found = heard.find(fits);
      if (found !== undefined) return Promise.resolve(found);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          listeners.delete(listener);
          reject(new Error(`${agent} did not hear it; it heard ${JSON.stringify(heard).slice(-2_000)}`));
        }, ms);
        const listener = (message: Heard): void => {
          if (!fits(message)) return;
          clearTimeout(timer);
          listeners.delete(listener);
          resolve(message);
        };
        listeners.add(listener);
      });
    },
    on: (listener) => void listeners.add(listener),
    async close() {
      ws.close();
      return closed;
    },
  };
  return client;
}

/** One message in the words of the wire; `more` overrides any field, undefined drops it. */
export function envelope(
  source: string,
  type: LiveType,
  target: string | undefined,
  payload: unknown,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return { id: randomUUID(), type, timestamp: new Date().toISOString(), source, target, payload, ...more };
}

/** True for the answer to the message of this id. */
export function answers({ payload }: Heard, id: string): boolean {
  return payload?.requestId === id || payload?.details?.requestId === id;
}

/** No upgrade: what was answered instead. */
export class NoUpgrade extends Error {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;

  constructor(status: number, headers: Record<string, unknown>, body: string) {
    super(`no upgrade: ${status} ${body}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

function opened(ws: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    ws.once('open', () => {
      ws.on('error', () => {});
      resolve();
    });
    ws.once('unexpected-response', (_request, response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => reject(new NoUpgrade(response.statusCode ?? 0, response.headers, body)));
    });
    ws.on('error', reject);
  });
}

/** The answer to a connection that must be refused. */
export async function refusal(dialling: Promise<LiveClient>): Promise<NoUpgrade> {
  const outcome = await dialling.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(NoUpgrade);
  return outcome as NoUpgrade;
}

/** Answers every command at once, and remembers each. */
export function obey(agent: LiveClient): Heard[] {
  const commands: Heard[] = [];
  const answer = (message: Heard): void => {
    if (message.type !== 'command') return;
    commands.push(message);
    agent.say('command_response', message.source, {
      requestId: message.id,
      success: true,
      result: { did: message.payload.command, by: agent.agent },
      executionTime: 1,
    });
  };
  agent.heard.forEach(answer);
  agent.on(answer);
  return commands;
}

/** What an agent registers with. */
export const registration = {
  name: 'An agent',
  type: 'sisyphus',
  capabilities: ['run_task', 'health_check'],
  endpoint: 'wss://agents.example/one',
};
