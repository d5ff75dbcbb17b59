/** Puts an MCP server that speaks on stdio behind a URL, as the conformance suite knows no other way in; it adds nothing but the transport. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

type Message = { id?: unknown; method?: string; params?: Fields; error?: { code: number } } & Fields;
type Fields = Record<string, unknown>;

/** One process of the server, and who waits for what it says. */
interface Line {
  child: ChildProcess;
  /** Whoever waits for the answer to a request, by the id that the process knows it by. */
  waiting: Map<unknown, { id: unknown; response: ServerResponse }>;
  /** Where the server's own messages go while no request is open. */
  listener: ServerResponse | undefined;
}

const MOST_SESSIONS = 3;
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const STATUS: Readonly<Record<number, number>> = {
  [-32_601]: 404,
  [-32_602]: 400,
  [-32_020]: 400,
  [-32_022]: 400,
};

/** A process for each session of the older revisions, and one for all requests of the newest, which has none. */
export async function putBehindHttp(start: {
  command: string;
  args: (n: number) => string[];
  env: Record<string, string>;
  cwd: string;
}): Promise<{ url: string; close(): Promise<void> }> {
  const lines = new Map<string, Line>();
  let requests = 0;
  let processes = 0;

  function open(key: string): Line {
    const { command, args, env, cwd } = start;
    const child = spawn(command, args(++processes), { env, cwd, stdio: ['pipe', 'pipe', 'ignore'] });
    const line: Line = { child, waiting: new Map(), listener: undefined };
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (said) =>
      deliver(line, JSON.parse(said) as Message),
    );
    // The suite leaves its sessions open and never comes back to an old one.
    const [oldest, ...others] = [...lines].filter(([other]) => other !== '');
    if (oldest !== undefined && others.length >= MOST_SESSIONS) {
      oldest[1].child.stdin?.end();
      lines.delete(oldest[0]);
    }
    lines.set(key, line);
    return line;
  }

  /** Answers go where they were asked for; a notification of a subscription to its stream, all else to the newest request. */
  function deliver(line: Line, message: Message): void {
    if (message.method === undefined) {
      const waiting = line.waiting.get(message.id);
      line.waiting.delete(message.id);
      if (waiting !== undefined) answer(waiting.response, { ...message, id: waiting.id });
      return;
    }
    const meta = (message.params?.['_meta'] ?? {}) as Fields;
    const subscribed = line.waiting.get(meta[SUBSCRIPTION]);
    if (subscribed !== undefined) meta[SUBSCRIPTION] = subscribed.id;
    const target = subscribed?.response ?? [...line.waiting.values()].at(-1)?.response ?? line.listener;
    if (target !== undefined) send(target, message);
  }

  const http = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, origin } = request.headers;
    const own = `127.0.0.1:${(http.address() as AddressInfo).port}`;
    if (host !== own || (origin !== undefined && origin !== `http://${own}`)) return end(response, 403);
    const session = request.headers['mcp-session-id'];
    const line = typeof session === 'string' ? lines.get(session) : undefined;
    if (typeof session === 'string' && line === undefined) return end(response, 404);
    if (request.method === 'GET') {
      if (line === undefined) return end(response, 405);
      line.listener = response;
      beginStream(response);
      return;
    }
    if (request.method === 'DELETE') {
      line?.child.kill();
      lines.delete(String(session));
      return end(response, 200);
    }
    const message = JSON.parse(await text(request)) as Message;
    if (line === undefined && message.method === 'initialize') {
      const key = randomUUID();
      response.setHeader('mcp-session-id', key);
      return pass(open(key), message, response);
    }
    pass(line ?? lines.get('') ?? open(''), message, response);
  }

  function pass(line: Line, message: Message, response: ServerResponse): void {
    const isRequest = message.method !== undefined && message.id !== undefined;
    const id = isRequest ? `http-${++requests}` : message.id;
    if (isRequest) line.waiting.set(id, { id: message.id, response });
    line.child.stdin?.write(`${JSON.stringify({ ...message, ...(id === undefined ? {} : { id }) })}\n`);
    if (!isRequest) return end(response, 202);
    response.on('close', () => line.waiting.delete(id));
  }

  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async close() {
      for (const { child } of lines.values()) {
        const ended = once(child, 'exit');
        child.stdin?.end();
        if (child.exitCode === null) await ended;
      }
      http.closeAllConnections();
      http.close();
    },
  };
}

function beginStream(response: ServerResponse): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
}

function send(response: ServerResponse, message: Message): void {
  beginStream(response);
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

function answer(response: ServerResponse, message: Message): void {
  if (response.headersSent) {
    send(response, message);
    response.end();
    return;
  }
  const status = message.error === undefined ? 200 : (STATUS[message.error.code] ?? 200);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}
