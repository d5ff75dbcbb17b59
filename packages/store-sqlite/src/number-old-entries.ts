import { sumOfHead } from '@parley/store-rows';

import { createProgress, type Hear } from './news.ts';
import { createNumbering } from './sender-counts.ts';
import type { DatabaseSync } from './sqlite.ts';
import { runColumns } from './thread-record.ts';

interface Head {
  thread: number;
  last_seq: number;
  updated_at: string;
  hash: string;
  sum: string;
}

const OF_BEFORE = { speaker: null, run_seq: null, run_nth: null };

/** Numbers the entries of a log whose heads are of before they knew who wrote last; a damaged head is left to be found. */
export function numberOldEntries(db: DatabaseSync, hear: Hear): void {
  const heads = db
    .prepare<Head>('SELECT thread, last_seq, updated_at, hash, sum FROM heads WHERE speaker IS NULL')
    .all();
  if (heads.length === 0) return;
  const renumber = createNumbering(db);
  const put = db.prepare('UPDATE heads SET speaker = ?, run_seq = ?, run_nth = ?, sum = ? WHERE thread = ?');
  const progress = createProgress(hear, 'counting the entries of each sender');
  db.exec('BEGIN IMMEDIATE');
  for (const [done, { sum, ...head }] of heads.entries()) {
    if (sum !== sumOfHead({ ...head, ...OF_BEFORE })) continue;
    const run = runColumns(renumber(head.thread));
    put.run(run.speaker, run.run_seq, run.run_nth, sumOfHead({ ...head, ...run }), head.thread);
    progress(done, heads.length);
  }
  db.exec('COMMIT');
}
