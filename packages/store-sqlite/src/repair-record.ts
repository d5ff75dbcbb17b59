import { join } from 'node:path';

import { canonicalJson } from '@parley/protocol';

import { checkIntegrity } from './check-integrity.ts';
import { countRuns } from './count-runs.ts';
import { countAnew } from './doubtful-rows.ts';
import { threadsOfLog } from './doubtful-threads.ts';
import { findDoubts } from './find-doubts.ts';
import { createThreadReader } from './fold-thread.ts';
import { createSenderCounts } from './sender-counts.ts';
import { createProgress, type Hear } from './news.ts';
import { number } from './number.ts';
import { openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { rebuildRecords } from './rebuild-records.ts';
import { rebuildThreads } from './rebuild-threads.ts';
import { makePart } from './schema-parts.ts';
import { emptyIndex, SearchIndex } from './search-index.ts';
import { type DatabaseSync, sqliteModule, oneRow } from './sqlite.ts';
import { Tallies } from './tallies.ts';
import { readThread, THREAD_COLUMNS, type ThreadRecord } from './thread-record.ts';

/**
 * Makes anew, from the whole log, all that follows from it, and fills the index of words. What is lost for good is
 * told once more and from then on no longer missed. Nobody else may have the folder open.
 */
export function repairRecord(folder: string, hear: Hear): void {
  const path = join(folder, DATABASE_FILE);
  rebuildTableIndexes(path, hear);
  const db = openWriter(path, hear);
  try {
    rebuildThreads(db, differingThreads(db, hear), hear);
    rebuildRecords(db, ['they were not what the log tells'], hear);
    const { runs, index, lost } = findDoubts(db, { all: true });
    if (runs !== undefined) countRuns(db, runs, hear);
    if (index !== undefined) emptyIndex(db);
    fillIndex(db, hear);
    if (lost.length > 0) countAnew(db, 'all');
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

/** Indexes of tables that SQLite finds wrong are made anew from the tables, where nothing else is wrong. */
function rebuildTableIndexes(path: string, hear: Hear): void {
  const db = new (sqliteModule().DatabaseSync)(path, { timeout: 5_000 });
  try {
    const { damage } = checkIntegrity(db, 100);
    if (damage.length === 0 || !damage.every((text) => / index /.test(text))) return;
    db.exec('REINDEX');
    hear({ kind: 'rebuilt', part: 'records', text: `indexes of tables were made anew (${damage[0] ?? ''})` });
  } finally {
    db.close();
  }
}

/** Reads the whole log: the threads whose state is not what their entries make of it. */
function differingThreads(db: DatabaseSync, hear: Hear): Map<number, string> {
  const read = createThreadReader(db, createSenderCounts(db));
  const live = db.prepare<ThreadRecord>(
    `SELECT ${THREAD_COLUMNS} FROM threads t LEFT JOIN heads h ON h.thread = t.id WHERE t.id = ?`,
  );
  const progress = createProgress(hear, 'reading the log');
  const all = number(db, 'SELECT count(*) FROM entries');
  const differing = new Map<number, string>();
  const misfiled: { pos: number; replyTo: number | null }[] = [];
  let done = 0;
  for (const id of threadsOfLog(db)) {
    const thread = read(id);
    done += thread.length;
    progress(done, all);
    misfiled.push(...thread.misfiled);
    if (thread.broken !== undefined) continue;
    const row = oneRow(live.get(id));
    const { state, head } = readThread(row);
    const isSame = head === thread.head && canonicalJson(state) === canonicalJson(thread.fold.state);
    if (!isSame || thread.misnumbered.length > 0)
      differing.set(id, `${row.thread_id}: its state is not what its log makes of it`);
  }
  if (misfiled.length > 0) fileReplies(db, misfiled, hear);
  return differing;
}

/** Which message a reply is filed under is no part of what the chain holds, and is put right. */
function fileReplies(
  db: DatabaseSync,
  misfiled: readonly { pos: number; replyTo: number | null }[],
  hear: Hear,
): void {
  db.exec('BEGIN IMMEDIATE; DROP TRIGGER entries_never_change');
  const file = db.prepare('UPDATE entries SET reply_to = ? WHERE pos = ?');
  for (const { pos, replyTo } of misfiled) file.run(replyTo, pos);
  makePart(db, 'entries_never_change');
  db.exec('COMMIT');
  const text = `${misfiled.length} replies were filed anew under what they reply to`;
  hear({ kind: 'rebuilt', part: 'records', text });
}

function fillIndex(db: DatabaseSync, hear: Hear): void {
  const progress = createProgress(hear, 'filling the index of words');
  const all = number(db, 'SELECT max(pos) FROM entries');
  const index = new SearchIndex(db, new Tallies(db));
  for (let done = 0; index.step().more; done += 100) progress(done, all);
}
