import { JOURNAL_PREFIX, type ThreadState } from '@parley/core';

import { damaged, sumOfHead, sumOfThread, type ThreadColumns } from '@parley/store-rows';

/** A thread as it stands in its two rows; what the head's row holds is null where that row is missing. */
export interface ThreadRecord extends ThreadColumns {
  id: number;
  sum: string;
  last_seq: number | null;
  updated_at: string | null;
  hash: string | null;
  head_sum: string | null;
}

/** What is selected for a thread record. */
export const THREAD_COLUMNS =
  't.id, t.thread_id, t.workspace_id, t.status, t.state, t.sum, h.last_seq, h.updated_at, h.hash, h.sum AS head_sum';

/** The live state of a thread and the hash of its newest entry, put together from both rows; throws when either is damaged. */
export function readThread(row: ThreadRecord): { state: ThreadState; head: string } {
  const { id, thread_id, last_seq, updated_at, hash } = row;
  const whole = last_seq !== null && updated_at !== null && hash !== null;
  if (
    !whole ||
    sumOfThread(row) !== row.sum ||
    sumOfHead({ thread: id, last_seq, updated_at, hash }) !== row.head_sum
  )
    throw damaged(`the state of ${thread_id}`, { thread_id });
  // Its sum shows that it is as it was written.
  return { state: { ...(JSON.parse(row.state) as ThreadState), last_seq, updated_at }, head: hash };
}

/** The workspace in whose list of threads one stands; null for the logs of agents and of documents. */
export function listedIn({
  thread_id,
  workspace_id,
}: Pick<ThreadState, 'thread_id' | 'workspace_id'>): string | null {
  return thread_id.startsWith(JOURNAL_PREFIX) ? null : workspace_id;
}

/** What an entry may change beside the head. */
const STATE_KEYS = [
  'status',
  'findings',
  'participants',
  'title',
  'conversation',
  'side_channels',
] as const satisfies (keyof ThreadState)[];

/** True when two states differ in nothing but what every entry moves. */
export function sameButForHead(a: ThreadState, b: ThreadState): boolean {
  for (const key of STATE_KEYS) if (a[key] !== b[key]) return false;
  return true;
}
