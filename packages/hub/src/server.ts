import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

import { ParleyError, redact } from '@parley/protocol';

import type { Config } from './config/schema.ts';
import { type Connections, watchConnections } from './connections.ts';
import { type Exchange, HttpRefusal, sendError } from './exchange.ts';
import { createGuard } from './guard.ts';
import { isWebSocket, refuseUpgrade, serveWithoutUpgrade, type Upgrade } from './upgrade.ts';

/** A protocol face: takes the requests of its paths. */
export interface Face {
  /** True when this face answers the path. */
  claims(path: string): boolean;
  handle(exchange: Exchange): Promise<void>;
  /** Writes a refusal in the words of this face's wire; without it the envelope is used. */
  refuse?(exchange: Exchange, error: ParleyError): void;
  /** Takes over the connection of a request that asks for a WebSocket; what it throws is answered in plain HTTP. */
  upgrade?(upgrade: Upgrade): Promise<void>;
  /** Ends what the face keeps open, so that the server can stop. */
  close?(): Promise<void>;
}

export interface RunningServer {
  url: string;
  /** Stops accepting, lets running calls finish, then closes what is left. */
  close(): Promise<void>;
}

export interface ServerOptions {
  config: Config;
  faces: readonly Face[];
  /** Hears of every error that is no answer of the gate. */
  onRefusal: (exchange: Refused, error: ParleyError, cause: unknown) => void;
}

/** What is told of a request that was refused. */
export type Refused = Pick<Exchange, 'request' | 'request_id' | 'path'>;

/** One port for all faces: guards first, then the face whose path it is. */
export async function startServer({ config, faces, onRefusal }: ServerOptions): Promise<RunningServer> {
  const prefix = `req_${randomBytes(5).toString('base64url')}`;
  let counter = 0;
  let guard: (request: IncomingMessage) => void = () => {};
  let stopping = false;

  function admit(request: IncomingMessage): void {
    guard(request);
    if (stopping) throw new HttpRefusal(503, 'UNAVAILABLE', 'the hub is stopping', { connection: 'close' });
  }

  async function handle(exchange: Exchange): Promise<void> {
    const face = faces.find((candidate) => candidate.claims(exchange.path));
    try {
      admit(exchange.request);
      if (face === undefined)
        throw new HttpRefusal(404, 'NOT_FOUND', `there is nothing at ${redact(exchange.path).slice(0, 200)}`);
      await face.handle(exchange);
    } catch (thrown) {
      const error = toParleyError(thrown);
      onRefusal(exchange, error, thrown === error ? undefined : thrown);
      if (face?.refuse === undefined) sendError(exchange, error);
      else face.refuse(exchange, error);
    }
  }

  async function upgrade(asked: Upgrade): Promise<void> {
    const face = faces.find((candidate) => candidate.claims(asked.path));
    if (face?.upgrade === undefined || !isWebSocket(asked.request))
      return serveWithoutUpgrade(server, secure, asked);
    try {
      admit(asked.request);
      await face.upgrade(asked);
    } catch (thrown) {
      const error = toParleyError(thrown);
      onRefusal(asked, error, thrown === error ? undefined : thrown);
      refuseUpgrade(asked, error);
    }
  }

  const newId = (): string => `${prefix}${(counter++).toString(36)}`;

  const listener: RequestListener = (request, response) => {
    connections.begin(request.socket);
    const { path, query } = splitUrl(request);
    void handle({ request, response, request_id: newId(), path, query });
  };
  const secure = config.tls.cert !== '';
  const server = openServer(config, listener);
  const connections = watchConnections(server, secure);
  server.on('upgrade', (request, socket: Socket, rest: Buffer) => {
    socket.on('error', () => {});
    connections.begin(request.socket);
    void upgrade({ request, request_id: newId(), ...splitUrl(request), socket, rest });
  });
  server.headersTimeout = config.http.header_timeout_ms;
  server.requestTimeout = config.http.request_timeout_ms;
  server.keepAliveTimeout = config.http.keep_alive_timeout_ms;
  server.maxConnections = config.http.max_connections;
  await listen(server, config);
  const { port } = server.address() as AddressInfo;
  guard = createGuard(config, port);
  const scheme = config.tls.cert === '' ? 'http' : 'https';
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return {
    url: `${scheme}://${host}:${port}`,
    async close() {
      stopping = true;
      const closed = closeServer(server, connections, config.http.shutdown_timeout_ms);
      await Promise.all(faces.map(async (face) => face.close?.()));
      await closed;
    },
  };
}

function splitUrl({ url = '/' }: IncomingMessage): { path: string; query: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

function toParleyError(thrown: unknown): ParleyError {
  if (thrown instanceof ParleyError) return thrown;
  const message = 'something went wrong inside the hub; the request id leads to the cause in its log';
  return new ParleyError('INTERNAL', message);
}

function openServer(config: Config, listener: RequestListener): Server {
  const options = { maxHeaderSize: 16_384, connectionsCheckingInterval: 1_000, noDelay: true };
  if (config.tls.cert === '') {
    if (!isLoopback(config.host)) {
      throw new ParleyError(
        'VALIDATION_ERROR',
        `host ${config.host} is not loopback: set tls.cert and tls.key, or keep 127.0.0.1`,
      );
    }
    return createServer(options, listener);
  }
  return createTlsServer(
    { ...options, cert: readFileSync(config.tls.cert), key: readFileSync(config.tls.key) },
    listener,
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(
        new ParleyError(
          'UNAVAILABLE',
          taken
            ? `port ${config.port} is taken; choose another with --port, or 0 for any free one`
            : error.message,
        ),
      );
    });
    server.listen(config.port, config.host, resolve);
  });
}

const SWEEP_MS = 20;

function closeServer(server: Server, connections: Connections, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
    // A connection falls idle when its last answer is out, and only then can it be closed; the first sweep waits too,
    // for requests that have arrived but were not read yet.
    const sweep = setInterval(() => connections.closeIdle(), SWEEP_MS);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(sweep);
      resolve();
    });
  });
}
