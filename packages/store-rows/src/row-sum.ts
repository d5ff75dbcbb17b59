import { crc32 } from 'node:zlib';

import type { RecordKind, RecordKinds } from '@parley/core';
import { ParleyError } from '@parley/protocol';

/** The columns of a thread's row that its sum covers. */
export interface ThreadColumns {
  thread_id: string;
  workspace_id: string;
  status: string;
  state: string;
}

/** The columns of a thread's head that its sum covers. */
export interface HeadColumns {
  thread: number;
  last_seq: number;
  updated_at: string;
  hash: string;
  /** Who wrote the newest entry, and side by side with it all others from one on, which is that sender's nth. */
  speaker: string | null;
  run_seq: number | null;
  run_nth: number | null;
}

/** The columns of a cursor's row that its sum covers. */
export interface CursorColumns {
  thread: number;
  agent_id: string;
  last_read_seq: number;
  last_acked_message_id: string | null;
  updated_at: string;
}

/** The columns of a record's row that its sum covers. */
export interface RecordColumns {
  kind: string;
  workspace_id: string;
  key: string;
  mark: string;
  owner: string;
  json: string;
}

/** The sum of a record's row. */
export function sumOfRecord({ kind, workspace_id, key, mark, owner, json }: RecordColumns): string {
  return rowSum(kind, workspace_id, key, mark, owner, json);
}

/** The value of a record's row, if it is as it was written. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Whoever reads a row asked for its kind.
export function readRecord<K extends RecordKind>(row: RecordColumns & { sum: string }): RecordKinds[K] {
  if (sumOfRecord(row) !== row.sum) throw damaged(`${row.kind} ${row.key}`);
  // Its sum shows that it is as it was written, and what is put under a kind is of that kind.
  return JSON.parse(row.json) as RecordKinds[K];
}

/** The sum of a thread's row. */
export function sumOfThread({ thread_id, workspace_id, status, state }: ThreadColumns): string {
  return rowSum(thread_id, workspace_id, status, state);
}

/** The sum of a thread's head. */
export function sumOfHead(head: HeadColumns): string {
  const { thread, last_seq, updated_at, hash, speaker } = head;
  // So it was before heads knew who wrote last.
  if (speaker === null) return rowSum(thread, last_seq, updated_at, hash);
  return rowSum(thread, last_seq, updated_at, hash, speaker, head.run_seq, head.run_nth);
}

/** The sum of a cursor's row. */
export function sumOfCursor(cursor: CursorColumns): string {
  const { thread, agent_id, last_read_seq, last_acked_message_id, updated_at } = cursor;
  return rowSum(thread, agent_id, last_read_seq, last_acked_message_id, updated_at);
}

/**
 * What the hash chain is to the log, this is to every row beside it: a flipped bit is seen before it is served. The
 * chain guards against hands, this against chance, so a cheap sum will do.
 */
export function rowSum(...values: (string | number | null)[]): string {
  return crc32(values.join('\n')).toString(36);
}

/** The refusal to serve an entry that is not what its hash chain says, or one across it. */
export function damagedEntry(threadId: string, seq: number): ParleyError {
  return new ParleyError(
    'INTERNAL',
    `the record of ${threadId} is damaged at seq ${seq}; run \`parley doctor\``,
    { thread_id: threadId, seq },
  );
}

/** The refusal to serve what is not as it was written; the place is named, for the caller and for the log. */
export function damaged(place: string, details: Record<string, unknown> = {}): ParleyError {
  return new ParleyError('INTERNAL', `the record is damaged: ${place}; run \`parley doctor\``, details);
}

/** The refusal to answer from an index of words that cannot be read: it is made anew. */
export function damagedIndex(): ParleyError {
  return new ParleyError('UNAVAILABLE', 'the index of words is damaged and is made anew; retry', {
    reason: INDEX_DAMAGED,
    retry_after_ms: 1_000,
  });
}

const INDEX_DAMAGED = 'index_damaged';

/** True for the refusal above. */
export function isIndexDamage(error: unknown): boolean {
  return error instanceof ParleyError && error.details?.['reason'] === INDEX_DAMAGED;
}
