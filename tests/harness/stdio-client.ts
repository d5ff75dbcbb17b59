import { spawn } from 'node:child_process';

import { LEGACY, MODERN_META, type RpcMessage } from './mcp-wire.ts';
import { cleanEnv, PARLEY } from './start-hub.ts';

export interface StdioOptions {
  data: string;
  args?: readonly string[];
  env?: Record<string, string>;
  /** A command that starts it. */
  inside?: readonly string[];
}

/** A client that runs `parley mcp` as its child and speaks to it by lines. */
export interface StdioClient {
  pid: number;
  /** A request of the older revisions, after `initialize`. */
  legacy(method: string, params?: Record<string, unknown>): Promise<RpcMessage>;
  /** A request of the newest revision. */
  modern(method: string, params?: Record<string, unknown>): Promise<RpcMessage>;
  initialize(name?: string): Promise<RpcMessage>;
  /** Calls a tool in the older way and gives its structured content. */
  call<T = Record<string, unknown>>(name: string, input: Record<string, unknown>): Promise<T>;
  /** Writes a line, whatever it is. */
  write(line: string | Uint8Array): void;
  /** What came that answers no request. */
  unasked(): RpcMessage[];
  stdout(): string;
  stderr(): string;
  /** Closes its stdin and waits; the exit code. */
  end(): Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `parley mcp` on a data folder. */
export function startStdio(options: StdioOptions): StdioClient {
  const { data, args = [], env = {}, inside = [] } = options;
  const [program = process.execPath, ...words] = [
    ...inside,
    process.execPath,
    PARLEY,
    'mcp',
    '--data',
    data,
    ...args,
  ];
  const child = spawn(program, words, {
    env: cleanEnv(data, env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const waiting = new Map<string | number, (message: RpcMessage) => void>();
  const unasked: RpcMessage[] = [];
  let stdout = '';
  let stderr = '';
  let read = 0;
  let counter = 0;
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (let at = stdout.indexOf('\n', read); at >= 0; at = stdout.indexOf('\n', read)) {
      const message = JSON.parse(stdout.slice(read, at)) as RpcMessage;
      read = at + 1;
      const answer = message.method === undefined ? waiting.get(message.id ?? '') : undefined;
      if (answer === undefined) unasked.push(message);
      else answer(message);
    }
  });
  child.stdin.on('error', () => {});
  const exit = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));

  function request(method: string, params: Record<string, unknown>): Promise<RpcMessage> {
    const id = ++counter;
    return new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      void exit.then((code) => reject(new Error(`parley mcp ended with ${code}: ${stderr}`)));
      client.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  const client: StdioClient = {
    pid: child.pid ?? 0,
    legacy: (method, params = {}) => request(method, params),
    modern: (method, params = {}) => request(method, { ...params, _meta: MODERN_META }),
    async initialize(name = 'test') {
      const clientInfo = { name, version: '1' };
      const answer = await request('initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo });
      client.write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
      return answer;
    },
    async call<T>(name: string, input: Record<string, unknown>) {
      const { result, error } = await request('tools/call', { name, arguments: input });
      if (error !== undefined) throw new Error(error.message);
      return result?.['structuredContent'] as T;
    },
    write(line) {
      child.stdin.write(line);
      child.stdin.write('\n');
    },
    unasked: () => unasked,
    stdout: () => stdout,
    stderr: () => stderr,
    async end() {
      child.stdin.end();
      return exit;
    },
    async kill(signal) {
      child.kill(signal);
      return exit;
    },
  };
  return client;
}
