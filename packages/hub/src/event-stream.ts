import { once } from 'node:events';

import { type Claims, ParleyError } from '@parley/protocol';

import type { Exchange } from './exchange.ts';
import { requestContext } from './request-context.ts';

export interface StreamOptions {
  /** Throws when the token behind a stream is no longer good. */
  recheck: (claims: Claims) => void;
  recheckMs: number;
  /** Takes one of the places that a caller has for what it keeps open, until it is given back. */
  hold: (claims: Claims) => () => void;
}

/** The writing end of an open stream. */
export interface EventStream {
  /** Aborts when the client goes, the token falls or the hub stops. */
  stop: AbortSignal;
  /** Writes whole frames; a reader that does not keep up is waited for here and costs nobody memory. */
  write(frames: string): Promise<void>;
  /** True while the reader has not taken what was written. */
  blocked(): boolean;
}

const KEEP_ALIVE_MS = 15_000;

/** Serves server-sent events until one side ends: signs of life, the token rechecked, a fault told in one last frame. */
export async function serveEvents(
  exchange: Exchange,
  claims: Claims,
  streams: StreamOptions,
  waiting: Set<AbortController>,
  run: (stream: EventStream) => Promise<void>,
): Promise<void> {
  const { response } = exchange;
  const leave = streams.hold(claims);
  const { signal } = requestContext(exchange, waiting);
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': exchange.request_id,
    'x-accel-buffering': 'no',
    ...exchange.notices,
  });
  response.write(': stream\n\n');
  const ending = new AbortController();
  const stop = AbortSignal.any([signal, ending.signal]);
  const alive = setInterval(() => response.write(': alive\n\n'), KEEP_ALIVE_MS);
  const recheck = setInterval(() => {
    try {
      streams.recheck(claims);
    } catch {
      ending.abort();
    }
  }, streams.recheckMs);
  try {
    await run({
      stop,
      async write(frames) {
        if (!response.write(frames)) await once(response, 'drain', { signal: stop });
      },
      blocked: () => response.writableNeedDrain,
    });
  } catch (error) {
    if (!stop.aborted)
      response.write(
        `event: error\ndata: ${JSON.stringify({ code: error instanceof ParleyError ? error.code : 'INTERNAL' })}\n\n`,
      );
  } finally {
    leave();
    clearInterval(alive);
    clearInterval(recheck);
    response.end();
  }
}

/** The position a stream starts after: what a client that comes back has seen last, else what it asks for. */
export function startAfter(
  lastEventId: string | string[] | undefined,
  asked: unknown,
  field: string,
): number | undefined {
  const value = typeof lastEventId === 'string' && lastEventId !== '' ? Number(lastEventId) : asked;
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new ParleyError('VALIDATION_ERROR', `${field}: must be a whole number from 0 on`, { field });
  return value;
}
