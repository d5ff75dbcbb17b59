import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(
  new URL('../../packages/codex-proxy/bin/atm-agent-mcp.mjs', import.meta.url),
);
const SCRIPTED = fileURLToPath(new URL('scripted-codex', import.meta.url));

type Json = Record<string, unknown>;

export interface ToolAnswer {
  content: { type: string; text: string }[];
  structuredContent: Json & { agent_id: string; threadId: string; content: string };
  isError?: boolean;
}

/** An error answer, thrown by the calls of a client. */
export class AnswerError extends Error {
  readonly code: number;
  readonly data: Json;
  constructor(error: { code: number; message: string; data?: Json }) {
    super(error.message);
    this.code = error.code;
    this.data = error.data ?? {};
  }
}

/** Folders of one proxy's user. */
export interface Place {
  root: string;
  home: string;
  work: string;
  log: string;
  remove(): Promise<void>;
}

export function openPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'atm-proxy-')));
  const home = join(root, 'home');
  const work = join(root, 'work');
  for (const folder of [home, work]) mkdirSync(folder);
  // The child of a killed proxy ends a moment after it.
  const remove = () => rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  return { root, home, work, log: join(root, 'child.jsonl'), remove };
}

export interface ProxyClient {
  pid: number;
  process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Every notification, as it came. */
  heard: { method: string; params: Json }[];
  /** Every question, until `onAsk` is set. */
  asked: { id: unknown; method: string; params: Json }[];
  stderr(): string;
  /** The id that the next request will have. */
  nextId(): number;
  request(method: string, params?: Json): Promise<Json>;
  call(name: string, args?: Json): Promise<ToolAnswer>;
  send(message: Json): void;
  /** What the child has received so far. */
  received(): Json[];
  /** Ends the input and waits for the end of the process. */
  end(): Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

export interface ProxyOptions {
  place: Place;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  /** A program that runs the proxy and watches it. */
  under?: string[];
}

/** Starts the proxy as a client does, with the scripted Codex unless the environment names another. */
export async function startProxy(options: ProxyOptions): Promise<ProxyClient> {
  const { place, args = [], env = {}, cwd, under = [] } = options;
  const [command, ...words] = [...under, process.execPath, PROGRAM, 'serve', ...args] as [string];
  const child = spawn(command, words, {
    cwd: cwd ?? place.work,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: place.home,
      ATM_HOME: place.home,
      CODEX_BIN: SCRIPTED,
      SCRIPT_LOG: place.log,
      ...env,
    },
  });
  child.stdin.on('error', () => {});
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const heard: ProxyClient['heard'] = [];
  const asked: ProxyClient['asked'] = [];
  const waiting = new Map<unknown, (message: Json) => void>();
  let lastId = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Json;
    if (message['method'] === undefined) waiting.get(message['id'])?.(message);
    else if (message['id'] === undefined) heard.push(message as never);
    else asked.push(message as never);
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const client: ProxyClient = {
    pid: child.pid ?? 0,
    process: child,
    heard,
    asked,
    stderr: () => stderr,
    nextId: () => lastId + 1,
    send: (message) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    request(method, params = {}) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, (message) => {
          waiting.delete(id);
          if (message['error'] === undefined) resolve(message['result'] as Json);
          else reject(new AnswerError(message['error'] as never));
        });
        void ended.then(() => reject(new Error(`the proxy has ended: ${stderr}`)));
        client.send({ id, method, params });
      });
    },
    call: (name, given = {}) =>
      client.request('tools/call', { name, arguments: given }) as unknown as Promise<ToolAnswer>,
    received: () =>
      existsSync(place.log)
        ? readFileSync(place.log, 'utf8')
            .split('\n')
            .slice(0, -1)
            .map((line) => JSON.parse(line) as Json)
        : [],
    end() {
      child.stdin.end();
      return ended;
    },
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
  const hello = client.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '0' },
  });
  await hello.catch(async (error: unknown) => {
    await client.end();
    throw error;
  });
  client.send({ method: 'notifications/initialized' });
  return client;
}

/** The error that a call ends with. */
export async function errorOf(call: Promise<unknown>): Promise<AnswerError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof AnswerError) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}

/** Waits until something holds; the test's own time is the limit. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(20);
  }
}
