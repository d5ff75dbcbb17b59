import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { HTTP_STATUS, type JsonLimits, decodeJson, ParleyError, toEnvelope } from '@parley/protocol';

/** One HTTP request on its way through a face. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  request_id: string;
  /** Path without the query. */
  path: string;
  /** The query without its question mark. */
  query: string;
  /** Headers that go with the answer, whatever it is: that the operation behind it is to end. */
  notices?: Record<string, string> | undefined;
}

export interface BodyLimits extends JsonLimits {
  bytes: number;
}

/** Refusals that are about HTTP itself; the code stays one of ours. */
export class HttpRefusal extends ParleyError {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: ParleyError['code'],
    message: string,
    headers: Record<string, string> = {},
    details?: ParleyError['details'],
  ) {
    super(code, message, details);
    this.status = status;
    this.headers = headers;
  }
}

/** How much of a body is read away after its request was refused, so that the connection can be used again. */
const DISCARD_BYTES = 131_072;

/** How long a client that is still sending may take to see its answer before it is cut off. */
const LINGER_MS = 1_000;

const BYTE_ORDER_MARK = 0xfeff;

const TYPE = 'application/json; charset=utf-8';

/** Writes a JSON answer in one piece. */
export function sendJson(
  { request, response, request_id, notices }: Exchange,
  status: number,
  text: string,
  headers?: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return;
  const unread = request.complete ? 0 : bodySize(request);
  const bytes = Buffer.byteLength(text);
  const head = ['content-type', TYPE, 'content-length', `${bytes}`, 'x-request-id', request_id];
  head.push(...COMMON);
  if (notices !== undefined) overwrite(head, notices);
  if (headers !== undefined) overwrite(head, headers);
  // A rest too long to be read away ends the connection, and the client must know.
  if (unread > DISCARD_BYTES) overwrite(head, { connection: 'close' });
  response.writeHead(status, head);
  if (unread > 0) dismiss(request, response, text);
  else finish(response, text, bytes === text.length ? 'latin1' : 'utf8');
}

const COMMON = ['x-content-type-options', 'nosniff', 'cache-control', 'no-store'];

/** Writes an answer that is no JSON. */
export function sendText(
  { request, response, request_id }: Exchange,
  type: string,
  text: string,
  headers: Record<string, string> = {},
  status = 200,
): void {
  const head = [
    'content-type',
    type,
    'content-length',
    `${Buffer.byteLength(text)}`,
    'x-request-id',
    request_id,
  ];
  head.push(...COMMON);
  overwrite(head, headers);
  response.writeHead(status, head);
  response.end(request.method === 'HEAD' ? undefined : text);
}

/** Sets headers in a list of names and values. */
function overwrite(head: string[], headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    const at = head.indexOf(name);
    if (at >= 0 && at % 2 === 0) head[at + 1] = value;
    else head.push(name, value);
  }
}

/** Head and body leave as one string in one write; `end` with a body would hand the socket a list. */
function finish(response: ServerResponse, text: string, encoding: 'latin1' | 'utf8'): void {
  const { socket } = response;
  if (socket === null) {
    response.end(text, encoding);
    return;
  }
  socket.cork();
  response.write(text, encoding);
  socket.uncork();
  response.end();
}

/** Writes an error with the status and the hints its code asks for; in the envelope unless a face has its own words. */
export function sendError(
  exchange: Exchange,
  error: ParleyError,
  body: unknown = toEnvelope(error, exchange.request_id),
  challenge: { 'www-authenticate'?: string } = {},
): void {
  const { status, headers } = errorHead(error);
  sendJson(exchange, status, JSON.stringify(body), status === 401 ? { ...headers, ...challenge } : headers);
}

/** The status and the headers that an error asks for. */
export function errorHead(error: ParleyError): { status: number; headers: Record<string, string> } {
  const headers: Record<string, string> = error instanceof HttpRefusal ? { ...error.headers } : {};
  const status = error instanceof HttpRefusal ? error.status : HTTP_STATUS[error.code];
  const wait = error.details?.['retry_after_ms'];
  if (typeof wait === 'number') headers['retry-after'] = String(Math.max(1, Math.ceil(wait / 1_000)));
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="parley"';
  return { status, headers };
}

/** Reads and decodes a JSON body strictly. */
export async function readJsonBody(exchange: Exchange, limits: BodyLimits): Promise<unknown> {
  return decodeJson(await readJsonText(exchange, limits.bytes), limits);
}

/** Reads the text of a JSON body; an oversized one is cut off while it arrives. */
export async function readJsonText(exchange: Exchange, maxBytes: number): Promise<string> {
  const { headers } = exchange.request;
  const type = headers['content-type'] ?? '';
  if (type !== 'application/json' && !/^application\/json\s*(;\s*charset=utf-8\s*)?$/i.test(type)) {
    throw new HttpRefusal(415, 'VALIDATION_ERROR', 'send Content-Type: application/json in UTF-8');
  }
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new HttpRefusal(415, 'VALIDATION_ERROR', 'compressed bodies are not accepted');
  }
  const bytes = await readBytes(exchange, maxBytes);
  if (!isUtf8(bytes)) throw new ParleyError('VALIDATION_ERROR', 'the body is not valid UTF-8');
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

/** Reads a body whatever it is; an oversized one is refused before it has all arrived. */
export function readBytes({ request }: Exchange, maxBytes: number): Promise<Buffer> {
  const { headers } = request;
  return new Promise((resolve, reject) => {
    if (headers['transfer-encoding'] === undefined && bodySize(request) > maxBytes) throw tooLarge(maxBytes);
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) reject(tooLarge(maxBytes));
      else chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    request.on('error', () => reject(new ParleyError('VALIDATION_ERROR', 'the request broke off')));
  });
}

function tooLarge(maxBytes: number): HttpRefusal {
  return new HttpRefusal(413, 'VALIDATION_ERROR', `the body is larger than ${maxBytes} bytes`);
}

/** The bytes a request announces; endless when it sends chunks. */
function bodySize({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined
    ? Number(headers['content-length'] ?? 0)
    : Number.POSITIVE_INFINITY;
}

/**
 * Answers a request that has not arrived yet. Closing at once would reset the connection and take the answer with it:
 * a small rest is read away, a large one is left unread until the client has had its time.
 */
function dismiss(request: IncomingMessage, response: ServerResponse, text: string): void {
  response.write(text);
  let size = 0;
  request.removeAllListeners('data');
  request.on('end', () => response.end());
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= DISCARD_BYTES) return;
    request.removeAllListeners('data');
    request.pause();
    setTimeout(() => request.destroy(), LINGER_MS).unref();
  });
}
