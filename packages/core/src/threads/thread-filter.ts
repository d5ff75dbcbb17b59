import type { ThreadGroup, ThreadStatus } from '@parley/protocol';

/** What a list may be narrowed to, beside who looks and what is unread. */
export interface ThreadFilter {
  group?: ThreadGroup;
  /** Words of the title; each must stand in it, in whatever case. */
  text?: string;
  /** Only threads that one of these takes part in. */
  with_any?: readonly string[];
}

/** How many threads of each kind there are; nothing is left out while `complete`. */
export interface ThreadCounts {
  open: number;
  unread: number;
  blocked: number;
  done: number;
  complete: boolean;
}

/** What is counted of a thread. */
export interface CountedThread {
  title: string;
  status: ThreadStatus;
  disputed: boolean;
  unread: boolean;
}

/** So many threads are looked at for one count: the newest, and then it says that there are more. */
export const COUNTED = 10_000;

const OPEN: readonly ThreadStatus[] = ['active', 'blocked'];

/** True when a thread belongs to a group: open ones may be blocked, by word or by a finding. */
export function isInGroup(
  { status, disputed }: Pick<CountedThread, 'status' | 'disputed'>,
  group: ThreadGroup | undefined,
): boolean {
  if (group === undefined) return true;
  const isOpen = OPEN.includes(status);
  if (group === 'blocked') return isOpen && (status === 'blocked' || disputed);
  return isOpen === (group === 'open');
}

/** True when every word stands in a title; the same in every store, which know the cases of letters differently. */
export function hasWords(title: string, text: string | undefined): boolean {
  if (text === undefined) return true;
  const lower = title.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

/** Counts threads, of which the newest come first. */
export function countThreads(found: Iterable<CountedThread>, text: string | undefined): ThreadCounts {
  const counts = { open: 0, unread: 0, blocked: 0, done: 0, complete: true };
  let looked = 0;
  for (const thread of found) {
    if (++looked > COUNTED) return { ...counts, complete: false };
    if (!hasWords(thread.title, text)) continue;
    counts[isInGroup(thread, 'open') ? 'open' : 'done']++;
    if (isInGroup(thread, 'blocked')) counts.blocked++;
    if (thread.unread && thread.status !== 'closed') counts.unread++;
  }
  return counts;
}
