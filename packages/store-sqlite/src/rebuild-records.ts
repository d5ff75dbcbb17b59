import { DERIVED_KINDS, type PutRecord } from '@parley/core';

import { recordTally, tallyOfRecords } from './doubtful-rows.ts';
import { createThreadReader } from './fold-thread.ts';
import { createProgress, type Hear } from './news.ts';
import { number } from './number.ts';
import { sumOfRecord, type RecordColumns } from '@parley/store-rows';
import type { DatabaseSync } from './sqlite.ts';
import { Tallies } from './tallies.ts';

/** Only an entry with one of these makes a record that follows from the log. */
const TELLING = ['"type":"ask.', '"type":"artifact.', '"type":"document.', '"type":"tree.', '"for_seconds"'];

/** How much of the log is looked through between two words of progress. */
const STRETCH = 20_000;

const KINDS = DERIVED_KINDS.map((kind) => `'${kind}'`).join();

/** Makes all records anew that follow from the log; those of a workspace whose log is damaged are left as they are. */
export function rebuildRecords(db: DatabaseSync, problems: readonly string[], hear: Hear): void {
  const read = createThreadReader(db);
  const write = createRecordWriter(db);
  const threads = tellingThreads(db, hear);
  const progress = createProgress(hear, 'making records anew from the log');
  const broken: string[] = [];
  db.exec('BEGIN IMMEDIATE');
  for (const [i, id] of threads.entries()) {
    const { fold, broken: why } = read(id);
    if (why === undefined) for (const record of fold.records()) write.put(record);
    else broken.push(`${fold.state?.thread_id ?? `thread ${id}`}: ${why}`);
    progress(i, threads.length);
  }
  // What a damaged log does not tell may yet be true.
  if (broken.length === 0) write.dropUntold();
  const tallies = new Tallies(db);
  for (const kind of DERIVED_KINDS) tallies.set(recordTally(kind), tallyOfRecords(db, kind));
  tallies.flush();
  db.exec('COMMIT');
  for (const why of broken)
    hear({ kind: 'fault', text: `what follows from a damaged log cannot be made anew: ${why}` });
  if (write.changed > 0)
    hear({
      kind: 'rebuilt',
      part: 'records',
      text: `${write.changed} ${write.changed === 1 ? 'record was' : 'records were'} made anew from the log (${problems[0] ?? ''})`,
    });
}

function tellingThreads(db: DatabaseSync, hear: Hear): number[] {
  const progress = createProgress(hear, 'looking through the log');
  const telling = TELLING.map((text) => `instr(json, '${text}') > 0`).join(' OR ');
  const select = db.prepare<{ thread: number }>(
    `SELECT DISTINCT thread FROM entries WHERE pos > ? AND pos <= ? AND (${telling})`,
  );
  const last = number(db, 'SELECT max(pos) FROM entries');
  const threads = new Set<number>();
  for (let pos = 0; pos < last; pos += STRETCH) {
    for (const { thread } of select.all(pos, pos + STRETCH)) threads.add(thread);
    progress(pos, last);
  }
  return [...threads];
}

function createRecordWriter(db: DatabaseSync) {
  const getRecord = db.prepare<RecordColumns & { sum: string }>(
    'SELECT * FROM records WHERE kind = ? AND workspace_id = ? AND key = ?',
  );
  const putRecord = db.prepare(
    'INSERT OR REPLACE INTO records (kind, workspace_id, key, mark, owner, json, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const dropRecord = db.prepare('DELETE FROM records WHERE kind = ? AND workspace_id = ? AND key = ?');
  const all = db.prepare<Record<'kind' | 'workspace_id' | 'key', string>>(
    `SELECT kind, workspace_id, key FROM records WHERE kind IN (${KINDS})`,
  );
  const reported = new Set<string>();
  let changed = 0;
  return {
    put({ kind, workspace_id, key, mark, owner, value }: PutRecord): void {
      reported.add(`${kind} ${workspace_id} ${key}`);
      const json = JSON.stringify(value);
      const row = { kind, workspace_id, key, mark, owner, json };
      const sum = sumOfRecord(row);
      const live = getRecord.get(kind, workspace_id, key);
      if (live?.sum === sum && sumOfRecord(live) === sum) return;
      putRecord.run(kind, workspace_id, key, mark, owner, json, sum);
      changed++;
    },
    dropUntold(): void {
      for (const { kind, workspace_id, key } of all.all()) {
        if (reported.has(`${kind} ${workspace_id} ${key}`)) continue;
        dropRecord.run(kind, workspace_id, key);
        changed++;
      }
    },
    get changed() {
      return changed;
    },
  };
}
