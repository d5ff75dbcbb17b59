import type { ThreadGroup, ThreadStatus } from '@parley/protocol';

/** What a list may be narrowed to, beside who looks and what is unread. */
export interface ThreadFilter {
  group?: ThreadGroup;
  /** Words of the title; each must stand in it, in whatever case. */
  text?: string;
  /** Only threads that one of these takes part in. */
  with_any?: readonly string[];
}

/** How many threads of each kind there are. */
export interface GroupCounts {
  open: number;
  unread: number;
  blocked: number;
  done: number;
}

/** What is counted of a thread. */
export interface CountedThread {
  title: string;
  status: ThreadStatus;
  disputed: boolean;
  unread: boolean;
}

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

/** Counts the threads of one page. */
export function countThreads(found: readonly CountedThread[], text: string | undefined): GroupCounts {
  const named = found.filter(({ title }) => hasWords(title, text));
  const many = (group: ThreadGroup): number => named.filter((thread) => isInGroup(thread, group)).length;
  const unread = named.filter((thread) => thread.unread && thread.status !== 'closed').length;
  return { open: many('open'), unread, blocked: many('blocked'), done: many('done') };
}
