import { type Presence, presenceEvent, type PresenceBoard } from '@parley/core';
import type { ThreadEvent } from '@parley/protocol';

import type { EventStream } from '../../event-stream.ts';

/** Changes within this time of each other become one event each participant. */
const GATHER_MS = 200;

export interface PresenceFeedOptions {
  board: PresenceBoard;
  stream: EventStream;
  /** Who is there when the feed begins. */
  now: readonly Presence[];
  /** Of which changes the reader may hear. */
  wants: (presence: Presence) => boolean;
  /** Which of the threads the reader may see at this moment; without it all that it wants. */
  admit?: (threadIds: readonly string[]) => Promise<ReadonlySet<string>>;
  toFrame: (event: ThreadEvent) => string;
}

/**
 * Puts presence between the events of a stream, the newest state of each participant only: what a slow reader missed it
 * does not need. The answer ends it.
 */
export function feedPresence(options: PresenceFeedOptions): () => void {
  const { board, stream, now, wants, admit, toFrame } = options;
  const pending = new Map<string, Presence>();
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  function gather(presence: Presence): void {
    pending.set(`${presence.thread_id} ${presence.agent_id}`, presence);
    timer ??= setTimeout(() => void flush(), GATHER_MS).unref();
  }

  async function flush(): Promise<void> {
    timer = undefined;
    if (ended || pending.size === 0) return;
    if (stream.blocked()) {
      timer = setTimeout(() => void flush(), GATHER_MS).unref();
      return;
    }
    const changes = [...pending.values()];
    pending.clear();
    const seen = await admit?.([...new Set(changes.map(({ thread_id }) => thread_id))]).catch(
      () => new Set<string>(),
    );
    const reported = changes.filter(({ thread_id }) => seen === undefined || seen.has(thread_id));
    // The stream may have ended while the threads were looked at.
    if (!isEnded() && reported.length > 0)
      await stream
        .write(reported.map((presence) => toFrame(presenceEvent(presence))).join(''))
        .catch(() => {});
  }

  const isEnded = (): boolean => ended;
  const unwatch = board.watch((presence) => {
    if (wants(presence)) gather(presence);
  });
  for (const presence of now) gather(presence);
  return () => {
    ended = true;
    clearTimeout(timer);
    unwatch();
  };
}
