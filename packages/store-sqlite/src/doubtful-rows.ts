import { DERIVED_KINDS } from '@parley/core';

import { type CursorColumns, type RecordColumns, rowSum, sumOfCursor, sumOfRecord } from '@parley/store-rows';
import { type DatabaseSync, oneRow, rowsOf } from './sqlite.ts';
import { Tallies, type Tally, tallyOf } from './tallies.ts';

/** What is wrong with rows beside the log, and whether they can be made anew from it. */
export interface RowDoubt {
  problem: string;
  isDerived: boolean;
}

/** The name under which the records of a kind are counted. */
export function recordTally(kind: string): string {
  return `record ${kind}`;
}

/** The kinds of records that follow from the log. */
const DERIVED: ReadonlySet<string> = new Set(DERIVED_KINDS);

/**
 * Holds records and cursors against their sums and against what was counted of them. What follows from nothing else
 * is only counted, unless one looks at `all`.
 */
export function* doubtfulRows(db: DatabaseSync, all: boolean): Generator<RowDoubt> {
  const tallies = new Tallies(db);
  for (const kind of kindsOf(db, tallies)) {
    const isDerived = DERIVED.has(kind);
    const there = isDerived || all ? readRecords(db, kind) : { ...countRecords(db, kind), damaged: [] };
    for (const problem of there.damaged) yield { problem, isDerived };
    const problem = compare(`the records of kind ${kind}`, tallies.read(recordTally(kind)), there, isDerived);
    if (problem !== undefined) yield { problem, isDerived };
  }
  const cursors = all
    ? readCursors(db)
    : { ...countRows(db, 'SELECT count(*) AS rows FROM cursors'), damaged: [] };
  for (const problem of cursors.damaged) yield { problem, isDerived: false };
  const missed = compare('the cursors', tallies.read('cursors'), cursors, false);
  if (missed !== undefined) yield { problem: missed, isDerived: false };
  if (all) for (const problem of damagedKeys(db)) yield { problem, isDerived: false };
}

/** What is there of something, as far as it was looked at. */
interface There {
  rows: number;
  /** Undefined where the rows were only counted. */
  sums?: number;
  damaged: string[];
}

/** What was never counted is only of use where it can be made anew: it is, and then it is counted. */
function compare(
  name: string,
  written: Tally | undefined,
  there: There,
  isDerived: boolean,
): string | undefined {
  if (written === undefined) return isDerived && there.rows > 0 ? `${name} were never counted` : undefined;
  if (written.rows !== there.rows) return `${name}: ${there.rows} are there, ${written.rows} were written`;
  if (there.sums === undefined || there.sums === written.sums || there.damaged.length > 0) return undefined;
  return `${name} are not the ones that were written`;
}

function kindsOf(db: DatabaseSync, tallies: Tallies): Set<string> {
  const rows = db.prepare<{ kind: string }>('SELECT DISTINCT kind FROM records').all();
  const counted = tallies.names().flatMap((name) => (name.startsWith('record ') ? [name.slice(7)] : []));
  return new Set([...rows.map(({ kind }) => kind), ...counted]);
}

function readRecords(db: DatabaseSync, kind: string): There {
  const damaged: string[] = [];
  const sums: string[] = [];
  const select = db.prepare<RecordColumns & { sum: string }>('SELECT * FROM records WHERE kind = ?');
  for (const row of rowsOf(select, kind)) {
    if (sumOfRecord(row) !== row.sum) damaged.push(`${row.kind} ${row.key} is not as it was written`);
    sums.push(row.sum);
  }
  return { ...tallyOf(sums), damaged };
}

function countRecords(db: DatabaseSync, kind: string): { rows: number } {
  return countRows(
    db,
    `SELECT count(*) AS rows FROM records INDEXED BY records_by_mark WHERE kind = '${kind}'`,
  );
}

function readCursors(db: DatabaseSync): There {
  const damaged: string[] = [];
  const sums: string[] = [];
  const select = db.prepare<CursorColumns & { sum: string }>('SELECT * FROM cursors');
  for (const row of rowsOf(select)) {
    if (sumOfCursor(row) !== row.sum)
      damaged.push(`the cursor of ${row.agent_id} in thread ${row.thread} is not as it was written`);
    sums.push(row.sum);
  }
  return { ...tallyOf(sums), damaged };
}

function* damagedKeys(db: DatabaseSync): Generator<string> {
  type Row = Record<'name' | 'fingerprint' | 'result' | 'sum', string> & { at: number };
  const rows = rowsOf(db.prepare<Row>('SELECT * FROM idempotency'));
  for (const { name, fingerprint, at, result, sum } of rows) {
    if (rowSum(name, fingerprint, at, result) !== sum)
      yield `the idempotency key ${name} is not as it was written`;
  }
}

function countRows(db: DatabaseSync, sql: string): { rows: number } {
  return oneRow(db.prepare<{ rows: number }>(sql).get());
}

/** True where something is not counted: in a record of an older form, or after the counts were lost. */
export function isUncounted(db: DatabaseSync): boolean {
  const tallies = new Tallies(db);
  const names = [...kindsOf(db, tallies)].map(recordTally);
  return ['cursors', ...names].some((name) => tallies.read(name) === undefined);
}

/** Counts records and cursors as they stand now, all or what was never counted; of what is lost no more is told then. */
export function countAnew(db: DatabaseSync, which: 'all' | 'uncounted'): void {
  const tallies = new Tallies(db);
  const isWanted = (name: string): boolean => which === 'all' || tallies.read(name) === undefined;
  db.exec('BEGIN IMMEDIATE');
  for (const kind of kindsOf(db, tallies))
    if (isWanted(recordTally(kind))) tallies.set(recordTally(kind), tallyOfRecords(db, kind));
  if (isWanted('cursors')) tallies.set('cursors', tallyOf(sumsOf(db, 'SELECT sum FROM cursors')));
  tallies.flush();
  db.exec('COMMIT');
}

/** The records of a kind as they stand now. */
export function tallyOfRecords(db: DatabaseSync, kind: string): Tally {
  return tallyOf(sumsOf(db, 'SELECT sum FROM records WHERE kind = ?', kind));
}

function* sumsOf(db: DatabaseSync, sql: string, ...values: string[]): Generator<string> {
  for (const { sum } of rowsOf(db.prepare<{ sum: string }>(sql), ...values)) yield sum;
}
