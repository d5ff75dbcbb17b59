import { CHAIN_START, type Entry, link } from '@parley/core';

import { rowSum } from './row-sum.ts';
import type { DatabaseSync, StatementSync } from './sqlite.ts';

/** How many entries one step takes. */
const STEP = 100;
/** How many characters of fresh entries are held; beyond it they are read again from the disk. */
const HELD_CHARS = 4_000_000;
/** What holding one costs beside its text. */
const SPARE_CHARS = 100;
/** So many bytes of text make FTS5 rewrite about one page of its index, over all the merges to come. */
const BYTES_PER_PAGE = 1_000;
/** How many pages are merged at once: FTS5 left to itself merges thousands within one commit. */
const MERGED_AT_ONCE = 24;
/** How many segments there may be on a level before FTS5 merges all of them whatever it costs; the most it allows. */
const CRISIS = 1_999;

interface Row {
  pos: number;
  seq: number;
  before: string | null;
  hash: string;
  json: string;
}

/** An entry that was just sealed. */
interface Fresh {
  pos: number;
  /** Empty for what is not to be found. */
  body: string;
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
  /** What was sealed and is not indexed yet, in order; there may be gaps. */
  #fresh: Fresh[] = [];
  #held = 0;
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

  /** Hands over an entry that was just sealed: it need not be read and checked again. */
  offer(pos: number, { seq, body }: Pick<Entry, 'seq' | 'body'>): void {
    if (this.#held > HELD_CHARS) return;
    this.#fresh.push({ pos, body: seq > 0 ? body : '' });
    this.#held += (seq > 0 ? body.length : 0) + SPARE_CHARS;
  }

  /** Indexes entries inside the open transaction: one, and further ones as long as it may. */
  take(mayGoOn: () => boolean): Stretch {
    const damaged: number[] = [];
    const from = this.#position;
    let more = false;
    this.#tune();
    for (const { pos, body } of this.#coming(damaged)) {
      if (body !== '') this.#add.get(pos, body);
      this.#pagesToMerge += body.length / BYTES_PER_PAGE;
      this.#position = pos;
      more = !mayGoOn();
      if (more) break;
    }
    if (this.#position > from) this.place();
    return { more, damaged };
  }

  /** What follows the index's place, in order: what is not at hand is read from the disk and checked. */
  *#coming(damaged: number[]): Generator<Fresh> {
    for (let isLevel = false; !isLevel;) {
      isLevel = true;
      const next = this.#fresh[0]?.pos ?? Infinity;
      if (next > this.#position + 1) {
        for (const row of this.#next.iterate(this.#position) as unknown as Iterable<Row>) {
          const { pos, seq, before, hash, json } = row;
          if (pos >= next) break;
          const isSound = link(before ?? CHAIN_START, json) === hash;
          if (!isSound) damaged.push(pos);
          yield { pos, body: isSound && seq > 0 ? (JSON.parse(json) as Entry).body : '' };
        }
      }
      while (this.#fresh[0]?.pos === this.#position + 1) {
        isLevel = false;
        const fresh = this.#fresh.shift() as Fresh;
        this.#held -= fresh.body.length + SPARE_CHARS;
        yield fresh;
      }
    }
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
    this.#fresh = [];
    this.#held = 0;
    this.#isTuned = false;
  }

  /** Merging is done in stretches like indexing, and not by FTS5 in the midst of somebody's commit. */
  #tune(): void {
    if (this.#isTuned) return;
    const row = this.#db.prepare("SELECT v FROM search_config WHERE k = 'automerge'").get();
    if ((row as { v: unknown } | undefined)?.v !== 0)
      this.#db.exec(`INSERT INTO search (search, rank) VALUES ('automerge', 0), ('crisismerge', ${CRISIS})`);
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
