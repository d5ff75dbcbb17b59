import type { CallContext } from '@parley/core';

import type { CallerHub } from './caller-hub.ts';

/** How many threads one connection may watch. */
export const MAX_WATCHED = 256;

export interface Watch {
  hub: CallerHub;
  threadId: string;
  context: CallContext;
  signal: AbortSignal;
  /** Told after each growth; the next one is looked for once it has returned. */
  onGrowth: (position: number) => Promise<void>;
  /** Told when the watch ends although the signal has not: the caller was shut out, or the log cannot be read. */
  onEnd?: () => void;
}

/** Refuses a thread that the caller may not read, then watches it until the signal ends. */
export async function watchThread(watch: Watch): Promise<void> {
  const { hub, threadId, context } = watch;
  const thread = await hub.call('get_thread', { thread_id: threadId }, context);
  void follow(watch, thread.last_seq);
}

async function follow({ hub, threadId, signal, onGrowth, onEnd }: Watch, after: number): Promise<void> {
  try {
    for await (const position of hub.growth(threadId, after, signal)) {
      if (signal.aborted) return;
      await onGrowth(position);
    }
  } catch {
    if (!signal.aborted) onEnd?.();
  }
}
