import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import { type ParleyError, toEnvelope } from '@parley/protocol';

import { errorHead } from './exchange.ts';

/** A request that asks to turn its connection into something else. */
export interface Upgrade {
  request: IncomingMessage;
  socket: Socket;
  /** What the client has sent beyond its request. */
  rest: Buffer;
  request_id: string;
  /** Path without the query. */
  path: string;
  /** The query without its question mark. */
  query: string;
}

/** True when the wanted protocol is WebSocket. */
export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Answers in plain HTTP, then hangs up: no connection was upgraded. */
export function refuseUpgrade({ socket, request_id }: Upgrade, error: ParleyError): void {
  if (socket.destroyed) return;
  const { status, headers } = errorHead(error);
  const body = JSON.stringify(toEnvelope(error, request_id));
  const lines = Object.entries({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': request_id,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    ...headers,
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroySoon(),
  );
  // What the client goes on sending is read away, or closing would take the answer with it.
  socket.resume();
  socket.setTimeout(LINGER_MS, () => socket.destroy());
}

const LINGER_MS = 1_000;

/** Headers that ask for the upgrade; without them the request is an ordinary one. */
const ASKING = new Set(['upgrade', 'connection', 'http2-settings']);

/** HTTP lets a server ignore an upgrade it does not know (`h2c`, as some clients always send it): the request is served as if it had not been asked for. */
export function serveWithoutUpgrade(
  server: Server,
  secure: boolean,
  { request, socket, rest }: Upgrade,
): void {
  const { method = 'GET', url = '/', httpVersion, rawHeaders } = request;
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!ASKING.has(rawHeaders[i]?.toLowerCase() ?? '')) text += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`;
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), rest]));
  server.emit(secure ? 'secureConnection' : 'connection', socket);
}
