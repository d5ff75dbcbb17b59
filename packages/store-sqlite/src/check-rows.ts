import type { ThreadState } from '@parley/core';

import { number } from './number.ts';
import { type CursorColumns, type RecordColumns, rowSum, sumOfCursor, sumOfRecord } from './row-sum.ts';
import { followerPosition } from './search-index.ts';
import type { DatabaseSync } from './sqlite.ts';
import { readThread, THREAD_COLUMNS, type ThreadRecord } from './thread-record.ts';

/** Reads every row beside the log and names those that are not as they were written. */
export function checkRows(db: DatabaseSync): string[] {
  return [
    ...damagedThreads(db),
    ...damagedCursors(db),
    ...damagedRecords(db),
    ...damagedKeys(db),
    ...damagedFollower(db),
  ];
}

function* damagedThreads(db: DatabaseSync): Generator<string> {
  const member = db.prepare(
    'SELECT 1 FROM participants WHERE workspace_id = ? AND agent_id = ? AND thread = ?',
  );
  let members = 0;
  const all = `SELECT ${THREAD_COLUMNS} FROM threads t LEFT JOIN heads h ON h.thread = t.id`;
  for (const row of rows<ThreadRecord>(db, all)) {
    const state = soundState(row);
    if (state === undefined) {
      yield `${row.thread_id}: its state is not as it was written`;
      continue;
    }
    const { workspace_id, participants } = state;
    members += participants.length;
    for (const agent of participants) {
      if (member.get(workspace_id, agent, row.id) === undefined)
        yield `${row.thread_id}: participant ${agent} is missing from the index`;
    }
  }
  const indexed = number(db, 'SELECT count(*) FROM participants');
  if (indexed !== members) yield `the threads have ${members} participants, their index has ${indexed}`;
}

function soundState(row: ThreadRecord): ThreadState | undefined {
  try {
    return readThread(row).state;
  } catch {
    return undefined;
  }
}

function* damagedCursors(db: DatabaseSync): Generator<string> {
  for (const row of rows<CursorColumns & { sum: string }>(db, 'SELECT * FROM cursors')) {
    if (sumOfCursor(row) !== row.sum)
      yield `the cursor of ${row.agent_id} in thread ${row.thread} is not as it was written`;
  }
}

function* damagedRecords(db: DatabaseSync): Generator<string> {
  for (const row of rows<RecordColumns & { sum: string }>(db, 'SELECT * FROM records')) {
    if (sumOfRecord(row) !== row.sum) yield `${row.kind} ${row.key} is not as it was written`;
  }
}

function* damagedFollower(db: DatabaseSync): Generator<string> {
  if (followerPosition(db) === undefined)
    yield 'the place of the search index in the log is not as it was written';
}

function* damagedKeys(db: DatabaseSync): Generator<string> {
  type Row = Record<'name' | 'fingerprint' | 'result' | 'sum', string> & { at: number };
  for (const { name, fingerprint, at, result, sum } of rows<Row>(db, 'SELECT * FROM idempotency')) {
    if (rowSum(name, fingerprint, at, result) !== sum)
      yield `the idempotency key ${name} is not as it was written`;
  }
}

function rows<T>(db: DatabaseSync, sql: string): Iterable<T> {
  return db.prepare(sql).iterate() as Iterable<T>;
}
