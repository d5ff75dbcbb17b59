import { CHAIN_START, link } from '@parley/core';
import { exportedRecord, type RecordColumns } from '@parley/store-rows';

import { number } from './number.ts';
import { closeReader } from './open-database.ts';
import { openRecord } from './open-record.ts';
import { rowsOf } from './sqlite.ts';

/**
 * Every line of the record as JSON, all of one moment, in the order the hub accepted it; the log may grow meanwhile.
 * What is secret in it stays behind.
 */
export function* exportRecord(folder: string): Generator<string> {
  const db = openRecord(folder);
  try {
    db.exec('BEGIN');
    const entries = number(db, 'SELECT count(*) FROM entries');
    yield JSON.stringify({
      type: 'parley.export',
      version: 2,
      schema_version: number(db, 'PRAGMA user_version'),
      entries,
      cursors: number(db, 'SELECT count(*) FROM cursors'),
      records: number(db, 'SELECT count(*) FROM records'),
    });
    const log = db.prepare<{ thread: number; workspace_id: string | null; hash: string; json: string }>(
      'SELECT e.thread, t.workspace_id, e.hash, e.json FROM entries e LEFT JOIN threads t ON t.id = e.thread ORDER BY e.pos',
    );
    const heads = new Map<number, string>();
    const counts = new Map<string | null, number>();
    for (const { thread, workspace_id, hash, json } of rowsOf(log)) {
      const pos = (counts.get(workspace_id) ?? 0) + 1;
      counts.set(workspace_id, pos);
      const sound = link(heads.get(thread) ?? CHAIN_START, json) === hash;
      heads.set(thread, hash);
      // Damage is handed out as what it is, so that the rest can still be saved.
      if (!sound) yield JSON.stringify({ type: 'damaged', workspace_id, pos, hash, text: json });
      else
        yield `{"type":"entry","workspace_id":${JSON.stringify(workspace_id)},"pos":${pos},"hash":${JSON.stringify(hash)},"entry":${json}}`;
    }
    const cursors = db.prepare(
      'SELECT t.thread_id, c.agent_id, c.last_read_seq, c.last_acked_message_id, c.updated_at FROM cursors c JOIN threads t ON t.id = c.thread ORDER BY t.id, c.agent_id',
    );
    for (const cursor of rowsOf(cursors)) yield JSON.stringify({ type: 'cursor', cursor });
    const records = db.prepare<RecordColumns>(
      'SELECT kind, workspace_id, key, mark, owner, json FROM records ORDER BY kind, workspace_id, key',
    );
    for (const row of rowsOf(records)) yield exportedRecord(row);
  } finally {
    closeReader(db);
  }
}
