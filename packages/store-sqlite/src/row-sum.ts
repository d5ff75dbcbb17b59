import { hash } from 'node:crypto';

import { ParleyError } from '@parley/protocol';

type Value = string | number | null;

/** The columns of a thread's row that its sum covers, in order. */
export interface ThreadColumns {
  thread_id: string;
  workspace_id: string;
  status: string;
  updated_at: string;
  last_seq: number;
  head: string;
  state: string;
}

/** The columns of a cursor's row that its sum covers, in order. */
export interface CursorColumns {
  thread: number;
  agent_id: string;
  last_read_seq: number;
  last_acked_message_id: string | null;
  updated_at: string;
}

/** The sum of a thread's row. */
export function sumOfThread(row: ThreadColumns): string {
  const { thread_id, workspace_id, status, updated_at, last_seq, head, state } = row;
  return rowSum(thread_id, workspace_id, status, updated_at, last_seq, head, state);
}

/** The sum of a cursor's row. */
export function sumOfCursor(row: CursorColumns): string {
  const { thread, agent_id, last_read_seq, last_acked_message_id, updated_at } = row;
  return rowSum(thread, agent_id, last_read_seq, last_acked_message_id, updated_at);
}

/** What the hash chain is to the log, this is to every row beside it: a flipped bit is seen before it is served. */
export function rowSum(...values: Value[]): string {
  return hash('sha256', values.join('\n'), 'base64url').slice(0, 22);
}

/** The refusal to serve what is not as it was written; the place is named, for the caller and for the log. */
export function damaged(place: string, details: Record<string, unknown> = {}): ParleyError {
  return new ParleyError('INTERNAL', `the record is damaged: ${place}; run \`parley doctor\``, details);
}
