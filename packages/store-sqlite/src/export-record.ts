import { CHAIN_START, link, shareable } from '@parley/core';

import { number } from './number.ts';
import { closeReader } from './open-database.ts';
import { openRecord } from './open-record.ts';

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
      version: 1,
      schema_version: number(db, 'PRAGMA user_version'),
      entries,
    });
    const log = db.prepare('SELECT pos, thread, hash, json FROM entries ORDER BY pos');
    const heads = new Map<number, string>();
    for (const { pos, thread, hash, json } of log.iterate() as Iterable<{
      pos: number;
      thread: number;
      hash: string;
      json: string;
    }>) {
      const sound = link(heads.get(thread) ?? CHAIN_START, json) === hash;
      heads.set(thread, hash);
      // Damage is handed out as what it is, so that the rest can still be saved.
      if (!sound) yield JSON.stringify({ type: 'damaged', pos, hash, text: json });
      else yield `{"type":"entry","pos":${pos},"hash":${JSON.stringify(hash)},"entry":${json}}`;
    }
    const cursors = db.prepare(
      'SELECT t.thread_id, c.agent_id, c.last_read_seq, c.last_acked_message_id, c.updated_at FROM cursors c JOIN threads t ON t.id = c.thread ORDER BY t.id, c.agent_id',
    );
    for (const cursor of cursors.iterate()) yield JSON.stringify({ type: 'cursor', cursor });
    const records = db.prepare('SELECT kind, json FROM records ORDER BY kind, workspace_id, key');
    for (const { kind, json } of records.iterate() as Iterable<{ kind: string; json: string }>)
      yield `{"type":${JSON.stringify(kind)},${JSON.stringify(kind)}:${shareable(kind, json)}}`;
  } finally {
    closeReader(db);
  }
}
