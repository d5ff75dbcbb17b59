import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

import { ParleyError, redact } from '@parley/protocol';

import type { Config } from './config/schema.ts';
import { type Connections, watchConnections } from './connections.ts';
import { createCrossOrigin } from './cross-origin.ts';
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
  /** Shows another certificate from now on. */
  renew(tls: Tls): void;
  /** Stops accepting, lets running calls finish, then closes what is left. */
  close(): Promise<void>;
}

/** A certificate chain and its key, as PEM. */
interface Tls {
  cert: string | Buffer;
  key: string | Buffer;
}

export interface ServerOptions {
  config: Config;
  faces: readonly Face[];
  /** One more way to faces that another server has: only under these names, always with TLS. */
  lan?: { names: readonly string[]; tls: Tls };
  /** Hears of every error that is no answer of the gate. */
  onRefusal: (exchange: Refused, error: ParleyError, cause: unknown) => void;
}

/** What is told of a request that was refused. */
export type Refused = Pick<Exchange, 'request' | 'request_id' | 'path'>;

/** One port for all faces: guards first, then the face whose path it is. */
export async function startServer({ config, faces, lan, onRefusal }: ServerOptions): Promise<RunningServer> {
  const prefix = `req_${randomBytes(5).toString('base64url')}`;
  let counter = 0;
  let guard: (request: IncomingMessage) => void = () => {};
  let stopping = false;
  const crossOrigin = createCrossOrigin(lan === undefined ? config.http.allowed_origins : []);

  function admit(request: IncomingMessage): void {
    guard(request);
    if (stopping) throw new HttpRefusal(503, 'UNAVAILABLE', 'the hub is stopping', { connection: 'close' });
  }

  async function handle(exchange: Exchange): Promise<void> {
    const face = faces.find((candidate) => candidate.claims(exchange.path));
    try {
      admit(exchange.request);
      if (crossOrigin.admit(exchange.request, exchange.response)) return;
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
  const tls = lan?.tls ?? readTls(config);
  const secure = tls !== undefined;
  const server = openServer(config, tls, listener);
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
  await listen(server, config, lan === undefined ? '--port' : '--set lan.port=');
  // It listens at a port.
  const { port } = server.address() as AddressInfo;
  guard = createGuard(config, port, lan?.names);
  const scheme = secure ? 'https' : 'http';
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return {
    url: `${scheme}://${host}:${port}`,
    renew(next) {
      if (server instanceof TlsServer) server.setSecureContext(next);
    },
    async close() {
      stopping = true;
      const closed = closeServer(server, connections, config.http.shutdown_timeout_ms);
      // Who has them first ends them.
      if (lan === undefined) await Promise.all(faces.map(async (face) => face.close?.()));
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

function readTls({ tls: { cert, key } }: Config): Tls | undefined {
  return cert === '' ? undefined : { cert: readFileSync(cert), key: readFileSync(key) };
}

function openServer(config: Config, tls: Tls | undefined, listener: RequestListener): Server {
  const options = { maxHeaderSize: 16_384, connectionsCheckingInterval: 1_000, noDelay: true };
  if (tls === undefined) {
    if (!isLoopback(config.host)) {
      throw new ParleyError(
        'VALIDATION_ERROR',
        `host ${config.host} is not loopback: set tls.cert and tls.key, or keep 127.0.0.1`,
      );
    }
    return createServer(options, listener);
  }
  return createTlsServer({ ...options, ...tls }, listener);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function listen(server: Server, config: Config, flag: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(
        new ParleyError(
          'UNAVAILABLE',
          taken
            ? `port ${config.port} is taken; choose another with ${flag}, or 0 for any free one`
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
