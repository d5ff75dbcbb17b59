import { threadsOfLog } from './doubtful-threads.ts';
import { createProgress, type Hear } from './news.ts';
import { number } from './number.ts';
import { createNumbering } from './sender-counts.ts';
import type { DatabaseSync } from './sqlite.ts';

/** Numbers every entry of a log that was written before entries were numbered. */
export function numberOldEntries(db: DatabaseSync, hear: Hear): void {
  const isNumbered = number(db, 'SELECT EXISTS (SELECT 1 FROM entries_by_sender)') === 1;
  if (isNumbered || number(db, 'SELECT EXISTS (SELECT 1 FROM entries)') === 0) return;
  const threads = [...threadsOfLog(db)];
  const renumber = createNumbering(db);
  const progress = createProgress(hear, 'counting the entries of each sender');
  db.exec('BEGIN IMMEDIATE');
  for (const [done, thread] of threads.entries()) {
    renumber(thread);
    progress(done, threads.length);
  }
  db.exec('COMMIT');
}
