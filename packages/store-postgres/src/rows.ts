import type { ThreadState } from '@parley/core';
import { damaged, rowSum, sumOfThread } from '@parley/store-rows';

import { sql } from './sql.ts';

/** A thread as it stands in its row. */
export interface ThreadRecord {
  thread_id: string;
  workspace_id: string;
  born: number;
  status: string;
  state: string;
  sum: string;
  last_seq: number;
  updated_at: string;
  hash: string;
  head_sum: string;
}

/** The live state of a thread and the hash of its newest entry; throws where its row is damaged. */
export function readThread(row: ThreadRecord): { state: ThreadState; head: string; born: number } {
  const { thread_id, last_seq, updated_at, hash, born } = row;
  if (sumOfThread(row) !== row.sum || sumOfHead(row) !== row.head_sum)
    throw damaged(`the state of ${thread_id}`, { thread_id });
  // Its sum shows that it is as it was written.
  return { state: { ...(JSON.parse(row.state) as ThreadState), last_seq, updated_at }, head: hash, born };
}

/** The sum of what every entry moves. */
export function sumOfHead({
  thread_id,
  last_seq,
  updated_at,
  hash,
  born,
}: Omit<ThreadRecord, 'status' | 'state' | 'sum' | 'workspace_id' | 'head_sum'>): string {
  return rowSum(thread_id, born, last_seq, updated_at, hash);
}

/** A cursor as it stands in its row. */
export interface CursorRecord {
  thread_id: string;
  agent_id: string;
  last_read_seq: number;
  last_acked_message_id: string | null;
  updated_at: string;
  sum: string;
}

/** The columns of a cursor `c`. */
export const CURSOR_COLUMNS = sql`c.thread_id, c.agent_id, c.last_read_seq, c.last_acked_message_id, c.updated_at, c.sum`;

/** The sum of a cursor's row. */
export function sumOfCursor(row: Omit<CursorRecord, 'sum'>): string {
  const { thread_id, agent_id, last_read_seq, last_acked_message_id, updated_at } = row;
  return rowSum(thread_id, agent_id, last_read_seq, last_acked_message_id, updated_at);
}

/** Refuses a cursor that is not as it was written. */
export function checkCursor(row: CursorRecord): void {
  const { thread_id, agent_id } = row;
  if (sumOfCursor(row) !== row.sum) throw damaged(`the cursor of ${agent_id} in ${thread_id}`, { thread_id });
}

/** The sum of what is beside the hash in an entry's row. */
export function sumOfEntry(row: { workspace_id: string; pos: number; sender: string; nth: number }): string {
  return rowSum(row.workspace_id, row.pos, row.sender, row.nth);
}

/** The sum of a workspace's count. */
export function sumOfCount(workspaceId: string, pos: number): string {
  return rowSum('count', workspaceId, pos);
}

/** How many entries a workspace has; 0 where it has none. */
export function readCount(row: { workspace_id: string; pos: number; sum: string } | undefined): number {
  if (row === undefined) return 0;
  if (sumOfCount(row.workspace_id, row.pos) !== row.sum)
    throw damaged(`the positions of workspace ${row.workspace_id}`);
  return row.pos;
}

/** By which what one agent has in one thread is found. */
export const cursorName = (thread: string, agent: string): string => `${thread} ${agent}`;
