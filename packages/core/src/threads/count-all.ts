import type { CountQuery, Store } from '../store.ts';
import type { GroupCounts } from './thread-filter.ts';

/** So many threads are looked at in one question: whoever asks the store besides waits for no more. */
const PAGE = 1_000;
/** So many questions are asked for one count, and then it says that there are more. */
const MOST_PAGES = 10;

/** How many threads of each kind there are; nothing is left out while `complete`. */
export interface ThreadCounts extends GroupCounts {
  complete: boolean;
}

/** Counts the threads that a filter names, page by page. */
export async function countAllThreads(
  store: Pick<Store, 'countThreads'>,
  query: Omit<CountQuery, 'limit' | 'past'>,
): Promise<ThreadCounts> {
  const sum = { open: 0, unread: 0, blocked: 0, done: 0 };
  let past: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { counts, next } = await store.countThreads({ ...query, limit: PAGE, past });
    sum.open += counts.open;
    sum.unread += counts.unread;
    sum.blocked += counts.blocked;
    sum.done += counts.done;
    if (next === undefined) return { ...sum, complete: true };
    past = next;
  }
  return { ...sum, complete: false };
}
