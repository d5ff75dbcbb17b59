import { CHAIN_START, type Entry, link } from '@parley/core';

import { rowSum } from './row-sum.ts';
import type { DatabaseSync, StatementSync } from './sqlite.ts';

/** How many entries one step takes. */
const STEP = 100;
/** So many bytes of text make FTS5 rewrite about one page of its index, over all the merges to come. */
const BYTES_PER_PAGE = 1_000;
/** How many pages are merged at once: FTS5 left to itself merges thousands within one commit. */
const MERGED_AT_ONCE = 32;
/** How many segments there may be on a level before FTS5 merges all of them whatever it costs; the most it allows. */
const CRISIS = 1_999;

interface Row {
  pos: number;
  seq: number;
  before: string | null;
  hash: string;
  json: string;
}

/** What one stretch of indexing came to. */
interface Stretch {
  more: boolean;
  /** Positions of damaged entries, which are left out. */
  damaged: number[];
}

/** A durable follower of the log that keeps the full-text index, in stretches as short as its owner wants them. */
export class SearchIndex {
  readonly #db: DatabaseSync;
  readonly #next: StatementSync;
  readonly #add: StatementSync;
  readonly #move: StatementSync;
  readonly #merge: StatementSync;
  /** Merging that the texts indexed so far have made necessary. */
  #pagesToMerge = 0;
  #isTuned = false;
  #position: number;
  /** The position that is on disk. */
  #kept: number;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#next = db.prepare(
      `SELECT e.pos, e.seq, e.hash, e.json,
       (SELECT b.hash FROM entries b WHERE b.thread = e.thread AND b.seq = e.seq - 1) AS before
       FROM entries e WHERE e.pos > ? ORDER BY e.pos`,
    );
    this.#add = db.prepare('INSERT INTO search (rowid, body) VALUES (?, ?)');
    this.#move = db.prepare("INSERT OR REPLACE INTO followers (name, pos, sum) VALUES ('search', ?, ?)");
    this.#merge = db.prepare("INSERT INTO search (search, rank) VALUES ('merge', ?)");
    this.#position = this.#kept = followerPosition(db) ?? this.#startAnew();
  }

  /** How far the index has come. */
  get position(): number {
    return this.#position;
  }

  /** How much merging is left to do: none, some that can wait, or enough for one time. */
  get ragged(): 'no' | 'little' | 'much' {
    if (this.#pagesToMerge < 1) return 'no';
    return this.#pagesToMerge < MERGED_AT_ONCE ? 'little' : 'much';
  }

  /** Indexes a few more entries in a transaction of its own. */
  step(): Stretch {
    this.#db.exec('BEGIN IMMEDIATE');
    let taken = 0;
    const stretch = this.take(() => ++taken < STEP);
    this.merge();
    this.#db.exec('COMMIT');
    this.keep();
    return stretch;
  }

  /** Indexes entries inside the open transaction: one, and further ones as long as it may. */
  take(mayGoOn: () => boolean): Stretch {
    const damaged: number[] = [];
    const from = this.#position;
    let more = false;
    this.#tune();
    for (const row of this.#next.iterate(from) as unknown as Iterable<Row>) {
      const { pos, seq, before, hash, json } = row;
      if (link(before ?? CHAIN_START, json) !== hash) damaged.push(pos);
      else if (seq > 0) this.#add.run(pos, (JSON.parse(json) as Entry).body);
      this.#pagesToMerge += json.length / BYTES_PER_PAGE;
      this.#position = pos;
      more = !mayGoOn();
      if (more) break;
    }
    if (this.#position > from) this.place();
    return { more, damaged };
  }

  /** Merges a little of what was indexed, inside the open transaction. */
  merge(): void {
    const pages = Math.min(MERGED_AT_ONCE, Math.ceil(this.#pagesToMerge));
    if (pages > 0) this.#merge.run(pages);
    this.#pagesToMerge = Math.max(0, this.#pagesToMerge - pages);
  }

  /** Writes the index's place anew, inside the open transaction. */
  place(): void {
    this.#move.run(this.#position, sumOfFollower(this.#position));
  }

  /** What was indexed is on disk. */
  keep(): void {
    this.#kept = this.#position;
  }

  /** What was indexed was rolled back. */
  drop(): void {
    this.#position = this.#kept;
    this.#isTuned = false;
  }

  /** Merging is done in stretches like indexing, and not by FTS5 in the midst of somebody's commit. */
  #tune(): void {
    if (this.#isTuned) return;
    const row = this.#db.prepare("SELECT v FROM search_config WHERE k = 'automerge'").get();
    if ((row as { v: unknown } | undefined)?.v !== 0)
      this.#db.exec(
        `INSERT INTO search (search, rank) VALUES ('automerge', 0), ('crisismerge', ${CRISIS})`,
      );
    this.#isTuned = true;
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
