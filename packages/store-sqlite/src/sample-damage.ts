import { join } from 'node:path';

import { DERIVED_KINDS } from '@parley/core';

import { DATABASE_FILE } from './open-store.ts';
import { type DatabaseSync, sqliteModule } from './sqlite.ts';

const KINDS = DERIVED_KINDS.map((kind) => `'${kind}'`).join();

/** Takes away all that follows from the log. */
export const WIPE = `DELETE FROM heads; DELETE FROM participants; DELETE FROM threads; DELETE FROM entries_by_sender;
  DELETE FROM records WHERE kind IN (${KINDS}); DELETE FROM runs; INSERT INTO search (search) VALUES ('delete-all')`;

/** Changes a record through a connection of its own, as a careless tool would. */
export function tamper(folder: string, change: string | ((db: DatabaseSync) => void)): void {
  const db = new (sqliteModule().DatabaseSync)(join(folder, DATABASE_FILE));
  db.enableDefensive(false);
  db.exec('PRAGMA busy_timeout = 10000; PRAGMA foreign_keys = OFF');
  if (typeof change === 'string') db.exec(change);
  else change(db);
  db.close();
}

/** Every row that follows from the log, and how much is counted. */
export function derivedRows(folder: string): Record<string, unknown[]> {
  const db = new (sqliteModule().DatabaseSync)(join(folder, DATABASE_FILE), { readOnly: true });
  try {
    const all = (sql: string): unknown[] => db.prepare(sql).all();
    return {
      threads: all('SELECT * FROM threads ORDER BY id').map(withoutHead),
      heads: all('SELECT * FROM heads ORDER BY thread'),
      numbers: all('SELECT * FROM entries_by_sender ORDER BY thread, sender, seq'),
      participants: all('SELECT * FROM participants ORDER BY workspace_id, agent_id, thread'),
      records: all(`SELECT * FROM records WHERE kind IN (${KINDS}) ORDER BY kind, workspace_id, key`),
      runs: all('SELECT * FROM runs ORDER BY pos'),
      tallies: all("SELECT * FROM tallies WHERE rows > 0 AND name <> 'search' ORDER BY name"),
    };
  } finally {
    db.close();
  }
}

/** The state holds what the head says as of its own last change, which nobody reads. */
function withoutHead(row: unknown): unknown {
  const { sum: _sum, ...thread } = row as { sum: string; state: string };
  const { last_seq: _seq, updated_at: _at, ...state } = JSON.parse(thread.state) as Record<string, unknown>;
  return { ...thread, state: JSON.stringify(state) };
}
