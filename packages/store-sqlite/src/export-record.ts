import { join } from 'node:path';

import { number, openReader } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';

/** Every line of the record as JSON, all of one moment, in the order the hub accepted it; the log may grow meanwhile. */
export function* exportRecord(folder: string): Generator<string> {
  const db = openReader(join(folder, DATABASE_FILE));
  try {
    db.exec('BEGIN');
    const entries = number(db, 'SELECT count(*) FROM entries');
    yield JSON.stringify({
      type: 'parley.export',
      version: 1,
      schema_version: number(db, 'PRAGMA user_version'),
      entries,
    });
    const log = db.prepare('SELECT pos, hash, json FROM entries ORDER BY pos');
    for (const { pos, hash, json } of log.iterate() as Iterable<{
      pos: number;
      hash: string;
      json: string;
    }>) {
      yield `{"type":"entry","pos":${pos},"hash":${JSON.stringify(hash)},"entry":${json}}`;
    }
    const cursors = db.prepare(
      'SELECT t.thread_id, c.agent_id, c.last_read_seq, c.last_acked_message_id, c.updated_at FROM cursors c JOIN threads t ON t.id = c.thread ORDER BY t.id, c.agent_id',
    );
    for (const cursor of cursors.iterate()) yield JSON.stringify({ type: 'cursor', cursor });
    const sessions = db.prepare('SELECT json FROM sessions ORDER BY workspace_id, agent_id, session_id');
    for (const { json } of sessions.iterate() as Iterable<{ json: string }>)
      yield `{"type":"session","session":${json}}`;
  } finally {
    db.close();
  }
}
