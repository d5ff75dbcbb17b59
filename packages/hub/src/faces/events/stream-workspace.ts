import { admitReader, mayOverride, toEvent } from '@parley/core';
import { type Claims, ParleyError } from '@parley/protocol';
import * as z from 'zod';

import { serveEvents } from '../../event-stream.ts';
import type { Exchange } from '../../exchange.ts';
import { readQuery } from '../../query.ts';
import type { EventsOptions } from './options.ts';
import { parse } from './parse.ts';
import { feedPresence } from './presence-feed.ts';
import { tellOfAgents } from './agents-feed.ts';

/** A position of the workspace's own count has a mark before it; a number alone may be of the time before there was one. */
const OWN = 'w';
const CURSOR = /^w?\d{1,15}$/;

const Input = z.strictObject({
  after: z
    .string()
    .regex(CURSOR, 'must be the id of an event of the stream, or a whole number from 0 on')
    .optional(),
});

/** All that happens in the threads the caller may see, by position in the log of its workspace; from now on, or from where it left off. */
export async function streamWorkspace(
  exchange: Exchange,
  options: EventsOptions,
  claims: Claims,
  waiting: Set<AbortController>,
): Promise<void> {
  const { log, presence, offers, streams } = options;
  const { workspace_id } = claims;
  const asked = parse(Input, readQuery(Input, exchange.query));
  const seen = exchange.request.headers['last-event-id'];
  const cursor = typeof seen === 'string' && seen !== '' ? parse(Input, { after: seen }).after : asked.after;
  const position = await log.position(workspace_id);
  const after = cursor === undefined ? position : await placeOf(cursor, workspace_id, options);
  // Who knows more than the log has come from another one: what it holds is not of this hub.
  if (after > position)
    throw new ParleyError('VALIDATION_ERROR', `after: the log has come to ${position} only`, {
      field: 'after',
      position,
    });
  await serveEvents(exchange, claims, streams, waiting, async (stream) => {
    await stream.write(`id: ${OWN}${after}\nevent: hello\ndata: ${JSON.stringify({ pos: after })}\n\n`);
    const leave = feedPresence({
      board: presence,
      stream,
      now: presence.everybody(workspace_id),
      wants: (change) => change.workspace_id === workspace_id,
      ...(mayOverride(claims)
        ? {}
        : { admit: (threads: readonly string[]) => readable(options, claims, threads) }),
      toFrame: (event) => `data: ${JSON.stringify({ event })}\n\n`,
    });
    void tellOfAgents(options.feed, workspace_id, stream);
    try {
      for await (const { rows } of log.followWorkspace(claims, after, stream.stop)) {
        const frames = rows.map(
          ({ pos, entry }) => `id: ${OWN}${pos}\ndata: ${JSON.stringify({ pos, event: toEvent(entry) })}\n\n`,
        );
        await stream.write(frames.join(''));
        for (const { entry } of rows) offers.note(claims, entry.thread_id, entry.seq, 'sse');
      }
    } finally {
      leave();
    }
  });
}

/** Nothing that follows a cursor of before is left out; who holds such a one may get some events twice. */
async function placeOf(cursor: string, workspaceId: string, { log }: EventsOptions): Promise<number> {
  if (cursor.startsWith(OWN)) return Number(cursor.slice(OWN.length));
  return log.placeOf(workspaceId, Number(cursor));
}

/** Those of the threads that the caller may read now. */
async function readable(
  { log }: EventsOptions,
  claims: Claims,
  threadIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { workspace_id } = claims;
  const found = await Promise.all(
    threadIds.map(async (thread_id) => {
      const { located } = await log.read({ workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 });
      try {
        admitReader(located, claims);
        return [thread_id];
      } catch {
        return [];
      }
    }),
  );
  return new Set(found.flat());
}
