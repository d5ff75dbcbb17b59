import { type Entry, toEvent } from '@parley/core';
import { type Claims, Seq } from '@parley/protocol';
import * as z from 'zod';

import { serveEvents, startAfter } from '../../event-stream.ts';
import type { Exchange } from '../../exchange.ts';
import { readQuery } from '../../query.ts';
import { requestContext } from '../../request-context.ts';
import type { EventsOptions } from './options.ts';
import { parse } from './parse.ts';
import { feedPresence } from './presence-feed.ts';

const Input = z.strictObject({ since_seq: Seq.optional() });

/** Each entry becomes a frame once, however many follow it. */
const frames = new WeakMap<Entry, string>();

/** A thread's events, from any seq on without gap or repeat into what happens now, with presence in between. */
export async function streamThread(
  exchange: Exchange,
  options: EventsOptions,
  claims: Claims,
  threadId: string,
  waiting: Set<AbortController>,
): Promise<void> {
  const { hub, log, presence, offers, streams } = options;
  const { since_seq } = parse(Input, readQuery(Input, exchange.query));
  const after = startAfter(exchange.request.headers['last-event-id'], since_seq, 'since_seq') ?? -1;
  await hub.call(claims, 'get_thread', { thread_id: threadId }, requestContext(exchange));
  await serveEvents(exchange, claims, streams, waiting, async (stream) => {
    const { workspace_id, agent_id } = claims;
    const now = [...presence.of(threadId).values()];
    const gone = presence.connect({ workspace_id, agent_id, thread_id: threadId });
    const leave = feedPresence({
      board: presence,
      stream,
      now,
      wants: ({ thread_id }) => thread_id === threadId,
      toFrame: (event) => `data: ${JSON.stringify(event)}\n\n`,
    });
    try {
      for await (const entries of log.follow(claims, threadId, after, stream.stop)) {
        await stream.write(entries.map(toFrame).join(''));
        offers.note(claims, threadId, entries.at(-1)?.seq ?? 0, 'sse', entries[0]?.seq);
      }
    } finally {
      leave();
      gone();
    }
  });
}

function toFrame(entry: Entry): string {
  let frame = frames.get(entry);
  if (frame === undefined) {
    frame = `id: ${entry.seq}\ndata: ${JSON.stringify(toEvent(entry))}\n\n`;
    frames.set(entry, frame);
  }
  return frame;
}
