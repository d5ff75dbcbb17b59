import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Entry, WorkspaceHead } from '@parley/core';
import { writeWholeSync } from '@parley/files';
import { type RecordTarget, rowSum, sumOfCursor, sumOfRecord } from '@parley/store-rows';

import { replyOf } from './fold-thread.ts';
import { MOVE_FILE, readMove } from './moving.ts';
import { number } from './number.ts';
import { openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { repairRecord } from './repair-record.ts';

/**
 * Makes the record of a folder from another one. Only the log and what does not follow from it is copied; the rest is
 * made from the log at the end, as a repair makes it. The folder is private and nobody else has it open.
 */
export function openFolderTarget(folder: string): RecordTarget {
  const path = join(folder, DATABASE_FILE);
  const wasThere = existsSync(path);
  const db = openWriter(path, () => {});
  const run = (change: () => void): void => {
    db.exec('BEGIN IMMEDIATE');
    try {
      change();
      db.exec('COMMIT');
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  };
  const idOf = db.prepare('SELECT id FROM threads WHERE thread_id = ?');
  const addThread = db.prepare(
    "INSERT INTO threads (thread_id, workspace_id, status, state, sum) VALUES (?, ?, '', '', '')",
  );
  const addEntry = db.prepare(
    'INSERT INTO entries (pos, thread, seq, reply_to, hash, json) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const putCursor = db.prepare(
    'INSERT OR REPLACE INTO cursors (thread, agent_id, last_read_seq, last_acked_message_id, updated_at, sum) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const putRecord = db.prepare(
    'INSERT OR REPLACE INTO records (kind, workspace_id, key, mark, owner, json, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const putKey = db.prepare(
    'INSERT OR REPLACE INTO idempotency (name, fingerprint, at, result, sum) VALUES (?, ?, ?, ?, ?)',
  );
  const ids = new Map<string, number>();
  const threadOf = (threadId: string, workspaceId?: string): number => {
    // The statement names the columns.
    const known = ids.get(threadId) ?? (idOf.get(threadId) as { id: number } | undefined)?.id;
    if (known === undefined && workspaceId === undefined) throw new Error(`no thread ${threadId}`);
    const id = known ?? Number(addThread.run(threadId, workspaceId ?? '').lastInsertRowid);
    ids.set(threadId, id);
    return id;
  };
  let pos = number(db, 'SELECT max(pos) FROM entries');
  let isOpen = true;
  const close = (): void => {
    if (isOpen) db.close();
    isOpen = false;
  };

  return {
    async heads() {
      const rows = db
        .prepare<WorkspaceHead & { last: number }>(
          `SELECT t.workspace_id, count(*) AS pos, max(e.pos) AS last FROM entries e JOIN threads t ON t.id = e.thread
           GROUP BY t.workspace_id ORDER BY t.workspace_id`,
        )
        .all();
      const hashAt = db.prepare('SELECT hash FROM entries WHERE pos = ?');
      return rows.map(({ workspace_id, pos: count, last }) => {
        // The statement names the columns, and the row was counted just now.
        const { hash } = hashAt.get(last) as { hash: string };
        return { workspace_id, pos: count, hash };
      });
    },
    isBlank: async () => !wasThere || (pos === 0 && number(db, 'SELECT count(*) FROM records') === 0),
    note: async () => readMove(folder),
    begin: async (from) => writeWholeSync(join(folder, MOVE_FILE), `${JSON.stringify({ from })}\n`),
    async addEntries(entries) {
      run(() => {
        for (const { thread_id, workspace_id, seq, hash, json } of entries) {
          const id = threadOf(thread_id, workspace_id);
          // Its hash was compared: it is the entry that was sealed.
          addEntry.run(++pos, id, seq, replyOf(JSON.parse(json) as Entry), hash, json);
        }
      });
    },
    clearRest: async () =>
      run(() =>
        db.exec('DELETE FROM cursors; DELETE FROM records; DELETE FROM idempotency; DELETE FROM tallies'),
      ),
    addCursors: async (cursors) =>
      run(() => {
        for (const { thread_id, ...cursor } of cursors) {
          const thread = threadOf(thread_id);
          const { agent_id, last_read_seq, last_acked_message_id, updated_at } = cursor;
          const sum = sumOfCursor({ thread, ...cursor });
          putCursor.run(thread, agent_id, last_read_seq, last_acked_message_id, updated_at, sum);
        }
      }),
    addRecords: async (records) =>
      run(() => {
        for (const row of records) {
          const { kind, workspace_id, key, mark, owner, json } = row;
          putRecord.run(kind, workspace_id, key, mark, owner, json, sumOfRecord(row));
        }
      }),
    addKeys: async (keys) =>
      run(() => {
        for (const { name, fingerprint, at, result } of keys)
          putKey.run(name, fingerprint, at, result, rowSum(name, fingerprint, at, result));
      }),
    async settle() {
      close();
      repairRecord(folder, () => {});
    },
    done: async () => rmSync(join(folder, MOVE_FILE), { force: true }),
    close: async () => close(),
  };
}
