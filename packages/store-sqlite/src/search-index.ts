import { CHAIN_START, type Entry, link } from '@parley/core';

import { rowSum } from './row-sum.ts';
import type { DatabaseSync, StatementSync } from './sqlite.ts';

const STEP = 100;

interface Row {
  pos: number;
  seq: number;
  before: string | null;
  hash: string;
  json: string;
}

/** A durable follower of the log that keeps the full-text index; it works in small steps while nobody writes. */
export class SearchIndex {
  readonly #db: DatabaseSync;
  readonly #next: StatementSync;
  readonly #add: StatementSync;
  readonly #move: StatementSync;
  #position: number;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#next = db.prepare(
      `SELECT e.pos, e.seq, e.hash, e.json,
       (SELECT b.hash FROM entries b WHERE b.thread = e.thread AND b.seq = e.seq - 1) AS before
       FROM entries e WHERE e.pos > ? ORDER BY e.pos LIMIT ?`,
    );
    this.#add = db.prepare('INSERT INTO search (rowid, body) VALUES (?, ?)');
    this.#move = db.prepare("INSERT OR REPLACE INTO followers (name, pos, sum) VALUES ('search', ?, ?)");
    this.#position = followerPosition(db) ?? this.#startAnew();
  }

  /** Indexes a few more entries and says whether there are more; a damaged one is told of and left out. */
  step(): { more: boolean; damaged: number[] } {
    const rows = this.#next.all(this.#position, STEP) as unknown as Row[];
    const last = rows.at(-1);
    if (last === undefined) return { more: false, damaged: [] };
    const damaged: number[] = [];
    this.#db.exec('BEGIN IMMEDIATE');
    for (const { pos, seq, before, hash, json } of rows) {
      if (link(before ?? CHAIN_START, json) !== hash) damaged.push(pos);
      else if (seq > 0) this.#add.run(pos, (JSON.parse(json) as Entry).body);
    }
    this.#move.run(last.pos, sumOfFollower(last.pos));
    this.#db.exec('COMMIT');
    this.#position = last.pos;
    return { more: rows.length === STEP, damaged };
  }

  /** An index that no longer knows how far it has come is made again from the log. */
  #startAnew(): number {
    this.#db.exec("BEGIN IMMEDIATE; INSERT INTO search (search) VALUES ('delete-all')");
    this.#move.run(0, sumOfFollower(0));
    this.#db.exec('COMMIT');
    return 0;
  }
}

/** How far the index has come; undefined where its row is not as it was written. */
export function followerPosition(db: DatabaseSync): number | undefined {
  const row = db.prepare("SELECT pos, sum FROM followers WHERE name = 'search'").get() as
    | { pos: number; sum: string }
    | undefined;
  if (row === undefined) return 0;
  return sumOfFollower(row.pos) === row.sum ? row.pos : undefined;
}

function sumOfFollower(pos: number): string {
  return rowSum('search', pos);
}
