import type { CursorColumns, RecordColumns } from '@parley/store-rows';
import type { DatabaseSync, StatementSync } from './sqlite.ts';
import { THREAD_COLUMNS, type ThreadRecord } from './thread-record.ts';

/** Every statement of the writer, prepared once. */
export type WriterStatements = ReturnType<typeof prepareWriterStatements>;

/**
 * Prepares what the writer says to SQLite. What every post says is carried out by `get`: `run` would make an object of
 * the count of changes each time.
 */
export function prepareWriterStatements(db: DatabaseSync) {
  const prepare = <Row>(sql: string): StatementSync<Row> => db.prepare<Row>(sql);
  return {
    getThread: prepare<ThreadRecord>(
      `SELECT ${THREAD_COLUMNS} FROM threads t LEFT JOIN heads h ON h.thread = t.id WHERE t.thread_id = ?`,
    ),
    anyThread: prepare('SELECT 1 FROM threads LIMIT 1'),
    anyThreadOf: prepare('SELECT 1 FROM threads WHERE workspace_id = ? LIMIT 1'),
    addThread: prepare(
      "INSERT INTO threads (thread_id, workspace_id, status, state, sum) VALUES (?, ?, '', '', '')",
    ),
    putThread: prepare('UPDATE threads SET status = ?, state = ?, sum = ? WHERE id = ?'),
    /** What stays of a head while the same sender goes on: the list it stands in, and the run. */
    moveHead: prepare('UPDATE heads SET last_seq = ?, updated_at = ?, hash = ?, sum = ? WHERE thread = ?'),
    putHead: prepare(
      'INSERT OR REPLACE INTO heads (thread, last_seq, updated_at, hash, sum, listed_in, speaker, run_seq, run_nth) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    addParticipant: prepare(
      'INSERT OR IGNORE INTO participants (workspace_id, agent_id, thread) VALUES (?, ?, ?)',
    ),
    dropParticipant: prepare(
      'DELETE FROM participants WHERE workspace_id = ? AND agent_id = ? AND thread = ?',
    ),
    getEntry: prepare<{ hash: string; json: string }>(
      'SELECT hash, json FROM entries WHERE thread = ? AND seq = ?',
    ),
    addEntry: prepare(
      'INSERT INTO entries (pos, thread, seq, reply_to, hash, json) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    addRun: prepare('INSERT INTO runs (pos, workspace_id, place, sum) VALUES (?, ?, ?, ?)'),
    lastRun: prepare<{ workspace_id: string }>('SELECT workspace_id FROM runs ORDER BY pos DESC LIMIT 1'),
    getCursor: prepare<CursorColumns & { sum: string }>(
      'SELECT * FROM cursors WHERE thread = ? AND agent_id = ?',
    ),
    putCursor: prepare(
      'INSERT OR REPLACE INTO cursors (thread, agent_id, last_read_seq, last_acked_message_id, updated_at, sum) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    getRecord: prepare<RecordColumns & { sum: string }>(
      'SELECT kind, workspace_id, key, mark, owner, json, sum FROM records WHERE kind = ? AND workspace_id = ? AND key = ?',
    ),
    sumOfRecord: prepare<{ sum: string }>(
      'SELECT sum FROM records WHERE kind = ? AND workspace_id = ? AND key = ?',
    ),
    putRecord: prepare(
      'INSERT OR REPLACE INTO records (kind, workspace_id, key, mark, owner, json, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    dropRecord: prepare('DELETE FROM records WHERE kind = ? AND workspace_id = ? AND key = ?'),
    getKey: prepare<{ fingerprint: string; at: number; result: string; sum: string }>(
      'SELECT fingerprint, at, result, sum FROM idempotency WHERE name = ?',
    ),
    putKey: prepare(
      'INSERT OR REPLACE INTO idempotency (name, fingerprint, at, result, sum) VALUES (?, ?, ?, ?, ?)',
    ),
  };
}
