import { checkSearchIndex } from './check-search-index.ts';
import { checkRuns } from './count-runs.ts';
import { doubtfulRows } from './doubtful-rows.ts';
import { doubtfulThreads, misplacedThreads } from './doubtful-threads.ts';
import { createSenderCounts } from './sender-counts.ts';
import type { DatabaseSync } from './sqlite.ts';

/** What stands beside the log and is not as it should be. */
export interface Doubts {
  /** What is wrong with the rows of a thread, by its number; they can be made anew from the log. */
  threads: Map<number, string>;
  /** What is wrong with records that can be made anew from the log. */
  records: string[];
  /** What is wrong with the positions of the workspaces. */
  runs: string | undefined;
  /** What is wrong with the index of words. */
  index: string | undefined;
  /** What is gone or damaged and follows from nothing else. */
  lost: string[];
  /** Where the log itself ends too early. */
  log: string[];
}

/**
 * Looks for what has gone or was altered, without reading the log: what this costs grows with the threads and with
 * what follows from the log, not with the messages. With `all` every row is read.
 */
export function findDoubts(db: DatabaseSync, { all }: { all: boolean }): Doubts {
  const index = checkSearchIndex(db, all);
  const runs = checkRuns(db, all);
  const doubts: Doubts = { threads: new Map(), records: [], runs, index, lost: [], log: [] };
  const numbered = { counts: createSenderCounts(db), all };
  for (const { id, problem, isLost } of [...misplacedThreads(db), ...doubtfulThreads(db, numbered)]) {
    if (isLost) doubts.log.push(problem);
    else doubts.threads.set(id, problem);
  }
  for (const { problem, isDerived } of doubtfulRows(db, all))
    (isDerived ? doubts.records : doubts.lost).push(problem);
  return doubts;
}

/** All that is wrong beside the log, in words. */
export function problemsOf({ threads, records, runs, index, lost }: Doubts): string[] {
  return [...threads.values(), ...records, ...[runs, index].filter((one) => one !== undefined), ...lost];
}
