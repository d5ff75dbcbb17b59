import { checkRuns, countRuns } from './count-runs.ts';
import { countAnew, isUncounted } from './doubtful-rows.ts';
import type { Doubts } from './find-doubts.ts';
import type { Hear } from './news.ts';
import { rebuildRecords } from './rebuild-records.ts';
import { rebuildThreads } from './rebuild-threads.ts';
import { emptyIndex } from './search-index.ts';
import { type DatabaseSync, SQLITE_FULL, sqliteCode } from './sqlite.ts';

/** Makes anew from the log what is in doubt; the index of words is emptied, and the writer fills it again. */
export function rebuild(db: DatabaseSync, { threads, records, runs, index }: Doubts, hear: Hear): void {
  try {
    if (threads.size > 0) rebuildThreads(db, threads, hear);
    if (records.length > 0) rebuildRecords(db, records, hear);
    // Whose an entry is follows from its thread: with those made anew the positions may well be right.
    const miscounted = runs !== undefined && threads.size > 0 ? checkRuns(db, false) : runs;
    if (miscounted !== undefined) countRuns(db, miscounted, hear);
    if (index !== undefined) {
      emptyIndex(db);
      hear({
        kind: 'rebuilt',
        part: 'index',
        text: `the index of words is made anew from the log (${index})`,
      });
    }
    if (isUncounted(db)) countAnew(db, 'uncounted');
  } catch (error) {
    if (sqliteCode(error) !== SQLITE_FULL) throw error;
    if (db.isTransaction) db.exec('ROLLBACK');
    // What is damaged is not served; the rest can be read.
    hear({ kind: 'fault', text: 'the disk is full: what is damaged beside the log could not be made anew' });
  }
}
