import { checkCall, type Entry, toMessage } from '@parley/core';
import { type Claims, ParleyError } from '@parley/protocol';

import { serveEvents, startAfter } from '../../event-stream.ts';
import type { Exchange } from '../../exchange.ts';
import { requestContext } from '../../request-context.ts';
import type { V1Options } from './options.ts';

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
  const threadId = String(input['thread_id']);
  // A stream has no answer that could carry a warning.
  const [unknown] = checkCall(claims, 'read_messages', input);
  if (unknown !== undefined) throw new ParleyError('VALIDATION_ERROR', unknown);
  const after = startAfter(exchange.request.headers['last-event-id'], input['since_seq'], 'since_seq') ?? 0;
  // Refused before the stream begins: the same checks, the same words as any other call.
  await options.hub.call(claims, 'get_thread', { thread_id: threadId }, requestContext(exchange));
  await serveEvents(exchange, claims, options.streams, waiting, async (stream) => {
    for await (const entries of options.log.follow(claims, threadId, after, stream.stop)) {
      await stream.write(entries.map(toFrame).join(''));
      const [first] = entries;
      if (first !== undefined)
        options.offers.note(claims, threadId, first.seq + entries.length - 1, 'sse', first.seq);
    }
  });
}

function toFrame(entry: Entry): string {
  let frame = frames.get(entry);
  if (frame === undefined) {
    frame = `id: ${entry.seq}\nevent: message\ndata: ${JSON.stringify(toMessage(entry))}\n\n`;
    frames.set(entry, frame);
  }
  return frame;
}
