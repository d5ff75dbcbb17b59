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
  ) {
    super(code, message);
    this.status = status;
    this.headers = headers;
  }
}

const COMMON = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/** Writes a JSON answer in one piece. */
export function sendJson(
  { response, request_id }: Exchange,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-request-id': request_id,
    ...COMMON,
    ...headers,
  });
  response.end(text);
}

/** Writes an error in the envelope, with the status and the hints its code asks for. */
export function sendError(exchange: Exchange, error: ParleyError): void {
  const headers: Record<string, string> = error instanceof HttpRefusal ? { ...error.headers } : {};
  const status = error instanceof HttpRefusal ? error.status : HTTP_STATUS[error.code];
  const wait = error.details?.['retry_after_ms'];
  if (typeof wait === 'number') headers['retry-after'] = String(Math.max(1, Math.ceil(wait / 1_000)));
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="parley"';
  sendJson(exchange, status, JSON.stringify(toEnvelope(error, exchange.request_id)), headers);
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
  const bytes = await readBody(exchange, maxBytes);
  if (!isUtf8(bytes)) throw new ParleyError('VALIDATION_ERROR', 'the body is not valid UTF-8');
  return bytes.toString('utf8');
}

function readBody({ request, response }: Exchange, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): HttpRefusal =>
    new HttpRefusal(413, 'VALIDATION_ERROR', `the body is larger than ${maxBytes} bytes`, {
      connection: 'close',
    });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    response.once('finish', () => request.destroy());
    return Promise.reject(tooLarge());
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        request.pause();
        request.removeAllListeners('data');
        response.once('finish', () => request.destroy());
        reject(tooLarge());
        return;
      }
      chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    const brokeOff = (): void => {
      if (!request.complete) reject(new ParleyError('VALIDATION_ERROR', 'the request broke off'));
    };
    request.on('error', brokeOff);
    request.on('close', brokeOff);
  });
}
