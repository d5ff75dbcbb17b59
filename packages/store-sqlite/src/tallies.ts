import { rowSum } from '@parley/store-rows';
import type { DatabaseSync, StatementSync } from './sqlite.ts';

/** How many rows there are of something, and their sums put together. */
export interface Tally {
  rows: number;
  sums: number;
}

/**
 * Counts what is kept beside the log, in the transaction that changes it: a row that goes by another hand is then
 * missed, which the row itself cannot tell.
 */
export class Tallies {
  readonly #put: StatementSync;
  readonly #get: StatementSync<Tally & { sum: string }>;
  readonly #names: StatementSync<{ name: string }>;
  readonly #known = new Map<string, Tally>();
  readonly #changed = new Map<string, Tally>();

  constructor(db: DatabaseSync) {
    this.#put = db.prepare('INSERT OR REPLACE INTO tallies (name, rows, sums, sum) VALUES (?, ?, ?, ?)');
    this.#get = db.prepare<Tally & { sum: string }>('SELECT rows, sums, sum FROM tallies WHERE name = ?');
    this.#names = db.prepare<{ name: string }>('SELECT name FROM tallies');
  }

  /** What was counted; undefined where it was not, or is not as it was written. */
  read(name: string): Tally | undefined {
    const row = this.#get.get(name);
    if (row === undefined || sumOfTally(name, row) !== row.sum) return undefined;
    return { rows: row.rows, sums: row.sums };
  }

  /** Of what there is a count, be it sound or not. */
  names(): string[] {
    return this.#names.all().map(({ name }) => name);
  }

  /** One row was written, or written over, or has gone: by its sum before and after. */
  replace(name: string, before: string | undefined, after: string | undefined): void {
    const rows = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    this.add(name, rows, (numberOf(before) ^ numberOf(after)) >>> 0);
  }

  add(name: string, rows: number, sums: number): void {
    const tally = this.#known.get(name) ?? this.read(name) ?? { rows: 0, sums: 0 };
    this.set(name, { rows: tally.rows + rows, sums: (tally.sums ^ sums) >>> 0 });
  }

  set(name: string, tally: Tally): void {
    this.#known.set(name, tally);
    this.#changed.set(name, tally);
  }

  /** Writes what has changed, inside the transaction that changed it. */
  flush(): void {
    for (const [name, tally] of this.#changed)
      this.#put.run(name, tally.rows, tally.sums, sumOfTally(name, tally));
    this.#changed.clear();
  }

  /** What was counted for a transaction that did not come to be is not counted. */
  forget(): void {
    this.#known.clear();
    this.#changed.clear();
  }
}

/** Counts rows as they stand, by their sums. */
export function tallyOf(sums: Iterable<string>): Tally {
  const tally = { rows: 0, sums: 0 };
  for (const sum of sums) {
    tally.rows++;
    tally.sums = (tally.sums ^ numberOf(sum)) >>> 0;
  }
  return tally;
}

function numberOf(sum: string | undefined): number {
  return sum === undefined ? 0 : Number.parseInt(sum, 36) >>> 0;
}

function sumOfTally(name: string, { rows, sums }: Tally): string {
  return rowSum('tally', name, rows, sums);
}
