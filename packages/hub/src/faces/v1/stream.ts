import { once } from 'node:events';

import { type Entry, toMessage } from '@parley/core';
import { type Claims, ParleyError } from '@parley/protocol';

import type { Exchange } from '../../exchange.ts';
import { requestContext } from '../../request-context.ts';
import type { V1Options } from './face.ts';

export interface StreamOptions {
  /** Throws when the token behind a stream is no longer good. */
  recheck: (claims: Claims) => void;
  recheckMs: number;
}

const KEEP_ALIVE_MS = 15_000;

/** Each entry becomes a frame once, however many follow it. */
const frames = new WeakMap<Entry, string>();

/** A thread's messages as server-sent events: id is the seq, so that Last-Event-ID resumes without gap or repeat. */
export async function streamMessages(
  exchange: Exchange,
  options: V1Options,
  claims: Claims,
  input: Record<string, unknown>,
  waiting: Set<AbortController>,
): Promise<void> {
  const { request, response } = exchange;
  const { signal } = requestContext(exchange, waiting);
  const threadId = String(input['thread_id']);
  const after = startAfter(request.headers['last-event-id'], input['since_seq']);
  // Refused before the stream begins: the same checks, the same words as any other call.
  await options.hub.call(claims, 'get_thread', { thread_id: threadId }, requestContext(exchange));
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': exchange.request_id,
    'x-accel-buffering': 'no',
  });
  response.write(': stream\n\n');
  const ending = new AbortController();
  const stop = AbortSignal.any([signal, ending.signal]);
  const alive = setInterval(() => response.write(': alive\n\n'), KEEP_ALIVE_MS);
  const recheck = setInterval(() => {
    try {
      options.streams.recheck(claims);
    } catch {
      ending.abort();
    }
  }, options.streams.recheckMs);
  try {
    for await (const entries of options.log.follow(claims, threadId, after, stop)) {
      // A reader that does not keep up waits here and costs nobody memory.
      if (!response.write(entries.map(toFrame).join(''))) await once(response, 'drain', { signal: stop });
      const [first] = entries;
      if (first !== undefined)
        options.offers.note(claims, threadId, first.seq + entries.length - 1, 'sse', first.seq);
    }
  } catch (error) {
    if (!stop.aborted)
      response.write(
        `event: error\ndata: ${JSON.stringify({ code: error instanceof ParleyError ? error.code : 'INTERNAL' })}\n\n`,
      );
  } finally {
    clearInterval(alive);
    clearInterval(recheck);
    response.end();
  }
}

function toFrame(entry: Entry): string {
  let frame = frames.get(entry);
  if (frame === undefined) {
    frame = `id: ${entry.seq}\nevent: message\ndata: ${JSON.stringify(toMessage(entry))}\n\n`;
    frames.set(entry, frame);
  }
  return frame;
}

function startAfter(lastEventId: string | string[] | undefined, since: unknown): number {
  const text = typeof lastEventId === 'string' && lastEventId !== '' ? Number(lastEventId) : (since ?? 0);
  if (typeof text !== 'number' || !Number.isSafeInteger(text) || text < 0) {
    throw new ParleyError('VALIDATION_ERROR', 'since_seq: must be a whole number from 0 on', {
      field: 'since_seq',
    });
  }
  return text;
}
