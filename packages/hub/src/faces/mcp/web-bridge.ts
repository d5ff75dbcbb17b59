import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';

import { type Exchange, sendJson } from '../../exchange.ts';

/**
 * As much of a web Request as the SDK reads of one whose body is already decoded. A real one costs a third of a whole
 * call: streams, header copies and an abort signal that follows another.
 */
class LeanRequest {
  readonly method: string;
  readonly url: string;
  readonly signal: AbortSignal;
  readonly headers: { get(name: string): string | null; has(name: string): boolean };

  constructor(request: IncomingMessage, signal: AbortSignal) {
    this.method = request.method ?? 'GET';
    this.url = `http://${request.headers.host ?? 'localhost'}${request.url ?? '/'}`;
    this.signal = signal;
    const get = (name: string): string | null => {
      const value = request.headers[name.toLowerCase()];
      return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
    };
    this.headers = { get, has: (name) => get(name) !== null };
  }
}

/** The request as the SDK takes it; the signal ends when the client goes away. */
export function toWebRequest({ request }: Exchange, signal: AbortSignal): Request {
  // It has what the SDK reads of one, and none of the rest.
  return new LeanRequest(request, signal) as unknown as Request;
}

/** Writes the SDK's answer: one piece when it is whole, a stream that waits for a slow reader when it is not. */
export async function sendWebResponse(
  exchange: Exchange,
  answer: Response,
  signal: AbortSignal,
): Promise<void> {
  const { response } = exchange;
  if (response.destroyed) {
    await answer.body?.cancel();
    return;
  }
  const headers = Object.fromEntries(answer.headers);
  if (answer.body === null) {
    response.writeHead(answer.status, { ...headers, 'x-request-id': exchange.request_id });
    response.end();
    return;
  }
  if (headers['content-type']?.startsWith('application/json') === true) {
    const { 'content-type': _type, ...rest } = headers;
    sendJson(exchange, answer.status, await answer.text(), rest);
    return;
  }
  response.writeHead(answer.status, {
    ...headers,
    'x-request-id': exchange.request_id,
    'x-content-type-options': 'nosniff',
  });
  response.flushHeaders();
  await pump(answer.body, exchange, signal);
}

async function pump(
  body: ReadableStream<Uint8Array>,
  exchange: Exchange,
  signal: AbortSignal,
): Promise<void> {
  const { response } = exchange;
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!response.write(value)) await once(response, 'drain', { signal });
    }
  } catch {
    // The client has left; what it asked for has been told to stop.
  } finally {
    signal.removeEventListener('abort', stop);
    response.end();
  }
}
