import type { WorkspaceHead } from '@parley/core';
import type { Cursor } from '@parley/protocol';
import {
  type CopiedEntry,
  type CopiedKey,
  type CopiedThread,
  damaged,
  readRecord,
  type RecordColumns,
  type RecordSource,
  rowSum,
  sumOfCursor,
} from '@parley/store-rows';

import { closeReader } from './open-database.ts';
import { openRecord } from './open-record.ts';
import { rowsOf } from './sqlite.ts';
import { readThread, threadColumns, type ThreadRecord } from './thread-record.ts';

const PAGE = 500;

/** The record of a folder as it is at one moment, to be copied elsewhere; a hub may go on writing. */
export function openFolderSource(folder: string): RecordSource {
  const db = openRecord(folder);
  db.exec('BEGIN');
  const all = <T>(sql: string): Iterable<T> => rowsOf(db.prepare<T>(sql));
  const threadNamed = db.prepare(
    `SELECT ${threadColumns(db)} FROM threads t LEFT JOIN heads h ON h.thread = t.id WHERE t.thread_id = ?`,
  );

  const hashOf = db.prepare(
    `SELECT e.hash FROM entries e JOIN threads t ON t.id = e.thread WHERE t.workspace_id = ?
     ORDER BY e.pos LIMIT 1 OFFSET ?`,
  );

  /** The log in the order it was written, each workspace counted by itself. */
  function* log(): Generator<CopiedEntry> {
    const counts = new Map<string, number>();
    type Row = Omit<CopiedEntry, 'pos'>;
    const rows = all<Row>(`SELECT t.workspace_id, t.thread_id, e.seq, e.hash, e.json
      FROM entries e JOIN threads t ON t.id = e.thread ORDER BY e.pos`);
    for (const { workspace_id, thread_id, seq, hash, json } of rows) {
      const pos = (counts.get(workspace_id) ?? 0) + 1;
      counts.set(workspace_id, pos);
      yield { workspace_id, pos, thread_id, seq, hash, json };
    }
  }

  return {
    async heads() {
      const rows = all<WorkspaceHead>(`SELECT t.workspace_id, count(*) AS pos
        FROM entries e JOIN threads t ON t.id = e.thread GROUP BY t.workspace_id ORDER BY t.workspace_id`);
      return [...rows].map(({ workspace_id, pos }) => ({ workspace_id, pos }));
    },
    async *entries(past) {
      yield* pages(log(), ({ workspace_id, pos }) => pos > (past.get(workspace_id) ?? 0));
    },
    async hashAt(workspaceId, pos) {
      // The statement names the columns.
      const row = hashOf.get(workspaceId, pos - 1) as { hash: string } | undefined;
      return row?.hash;
    },
    threads: async (ids) =>
      ids.map((id): CopiedThread => {
        // The statement names the columns.
        const row = threadNamed.get(id) as ThreadRecord | undefined;
        if (row === undefined) throw damaged(`the state of ${id}`, { thread_id: id });
        return readThread(row);
      }),
    async *cursors() {
      type Row = Cursor & { thread: number; sum: string };
      const rows =
        all<Row>(`SELECT t.thread_id, c.thread, c.agent_id, c.last_read_seq, c.last_acked_message_id,
        c.updated_at, c.sum FROM cursors c JOIN threads t ON t.id = c.thread ORDER BY t.id, c.agent_id`);
      for (const page of pages(rows))
        yield page.map(({ thread, sum, ...cursor }) => {
          const { thread_id, agent_id } = cursor;
          if (sumOfCursor({ thread, ...cursor }) !== sum)
            throw damaged(`the cursor of ${agent_id} in ${thread_id}`, { thread_id });
          return cursor;
        });
    },
    async *records() {
      const rows = all<RecordColumns & { sum: string }>(
        'SELECT kind, workspace_id, key, mark, owner, json, sum FROM records ORDER BY kind, workspace_id, key',
      );
      for (const page of pages(rows)) {
        for (const row of page) readRecord(row);
        yield page;
      }
    },
    async *keys() {
      type Row = CopiedKey & { sum: string };
      const rows = all<Row>('SELECT name, fingerprint, at, result, sum FROM idempotency ORDER BY name');
      for (const page of pages(rows)) {
        for (const { name, fingerprint, at, result, sum } of page)
          if (rowSum(name, fingerprint, at, result) !== sum) throw damaged(`the idempotency key ${name}`);
        yield page;
      }
    },
    async close() {
      closeReader(db);
    },
  };
}

function* pages<T>(rows: Iterable<T>, isWanted: (row: T) => boolean = () => true): Generator<T[]> {
  let page: T[] = [];
  for (const row of rows) {
    if (!isWanted(row)) continue;
    page.push(row);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
