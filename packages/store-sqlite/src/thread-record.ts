import { JOURNAL_PREFIX, type ThreadState } from '@parley/core';

import { damaged, sumOfHead, sumOfThread, type ThreadColumns } from '@parley/store-rows';
import type { DatabaseSync } from './sqlite.ts';

/** What one sender has written side by side, up to the newest entry of a thread. */
export interface OpenRun {
  sender: string;
  /** Where it begins. */
  seq: number;
  /** The first of its entries is the sender's nth in the thread. */
  nth: number;
}

/** A thread as it stands in its two rows; what the head's row holds is null where that row is missing. */
export interface ThreadRecord extends ThreadColumns {
  id: number;
  sum: string;
  last_seq: number | null;
  updated_at: string | null;
  hash: string | null;
  speaker: string | null;
  run_seq: number | null;
  run_nth: number | null;
  head_sum: string | null;
}

/** What is selected for a thread record. */
export const THREAD_COLUMNS =
  't.id, t.thread_id, t.workspace_id, t.status, t.state, t.sum, h.last_seq, h.updated_at, h.hash, h.speaker, h.run_seq, h.run_nth, h.sum AS head_sum';

/** The same where the record may be of an older form, whose heads do not know who wrote last. */
export function threadColumns(db: DatabaseSync): string {
  const isKnown = db.prepare("SELECT 1 FROM pragma_table_info('heads') WHERE name = 'speaker'").get();
  return isKnown === undefined
    ? THREAD_COLUMNS.replace(
        'h.speaker, h.run_seq, h.run_nth',
        'NULL AS speaker, NULL AS run_seq, NULL AS run_nth',
      )
    : THREAD_COLUMNS;
}

/** A thread as it is put together from both rows: its state, the hash of its newest entry, and who wrote last. */
export interface LiveThread {
  state: ThreadState;
  head: string;
  open: OpenRun | undefined;
}

/** The live thread; throws when either row is damaged. */
export function readThread(row: ThreadRecord): LiveThread {
  const { id, thread_id, last_seq, updated_at, hash, speaker, run_seq, run_nth } = row;
  const isWhole = last_seq !== null && updated_at !== null && hash !== null;
  const isRunWhole = (run_seq === null) === (speaker === null) && (run_nth === null) === (speaker === null);
  if (
    !isWhole ||
    !isRunWhole ||
    sumOfThread(row) !== row.sum ||
    sumOfHead({ thread: id, last_seq, updated_at, hash, speaker, run_seq, run_nth }) !== row.head_sum
  )
    throw damaged(`the state of ${thread_id}`, { thread_id });
  // Its sum shows that it is as it was written.
  const state = { ...(JSON.parse(row.state) as ThreadState), last_seq, updated_at };
  return { state, head: hash, open: openRun(row) };
}

/** The run that a head holds; none in a record of before. */
export function openRun({
  speaker,
  run_seq,
  run_nth,
}: Pick<ThreadRecord, 'speaker' | 'run_seq' | 'run_nth'>): OpenRun | undefined {
  if (speaker === null || run_seq === null || run_nth === null) return undefined;
  return { sender: speaker, seq: run_seq, nth: run_nth };
}

/** What a head holds of the run that is open. */
export function runColumns(open: OpenRun | undefined): Pick<ThreadRecord, 'speaker' | 'run_seq' | 'run_nth'> {
  return { speaker: open?.sender ?? null, run_seq: open?.seq ?? null, run_nth: open?.nth ?? null };
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
