import { CHAIN_START, type Entry, link, readEntry } from '@parley/core';

import { rowSum } from '@parley/store-rows';
import { makePart } from './schema-parts.ts';
import { BLOCK, mark, rowsOf, unmarked } from './search-marks.ts';
import { type DatabaseSync, type StatementSync, oneRow } from './sqlite.ts';
import { Tallies } from './tallies.ts';
import { readThread, THREAD_COLUMNS, type ThreadRecord } from './thread-record.ts';

/** How many entries one step takes. */
const STEP = 100;
/** So many entries, or characters, are put into the index together, in the order of their rows. */
const TOGETHER = 32;
const TOGETHER_CHARS = 20_000;
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
const CACHED_THREADS = 2_000;

interface Row {
  pos: number;
  thread: number;
  seq: number;
  before: string | null;
  hash: string;
  json: string;
}

/** An entry that is to be found. */
interface Fresh {
  pos: number;
  thread: number;
  /** Empty for what is not to be found. */
  body: string;
}

/** What one stretch of indexing came to. */
interface Stretch {
  more: boolean;
  /** Positions of damaged entries, which are left out. */
  damaged: number[];
}

/** Where the messages of a thread stand in the index. */
interface Place {
  workspace: number;
  marks: string;
}

interface Block {
  id: number;
  messages: number;
}

/** A durable follower of the log that keeps the full-text index, in stretches as short as its owner wants them. */
export class SearchIndex {
  readonly #db: DatabaseSync;
  readonly #tallies: Tallies;
  readonly #sql: ReturnType<typeof prepareStatements>;
  readonly #places = new Map<number, Place | undefined>();
  readonly #blocks = new Map<number, Block>();
  /** What was sealed and is not indexed yet, in order; there may be gaps. */
  #fresh: Fresh[] = [];
  #held = 0;
  /** Merging that the texts indexed so far have made necessary. */
  #pagesToMerge = 0;
  #isTuned = false;
  #isDoubted = false;
  #position: number;
  /** The position that is on disk. */
  #kept: number;

  constructor(db: DatabaseSync, tallies: Tallies) {
    this.#db = db;
    this.#tallies = tallies;
    this.#sql = prepareStatements(db);
    this.#position = this.#kept = followerPosition(db) ?? this.startAnew();
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

  /** The index cannot be read: whoever owns it begins it anew. */
  doubt(): void {
    this.#isDoubted = true;
  }

  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Indexes a few more entries in a transaction of its own. */
  step(): Stretch {
    if (this.#isDoubted) this.startAnew();
    this.#db.exec('BEGIN IMMEDIATE');
    let taken = 0;
    const stretch = this.take(() => ++taken < STEP);
    this.merge();
    this.#tallies.flush();
    this.#db.exec('COMMIT');
    this.keep();
    return stretch;
  }

  /** Hands over an entry that was just sealed: it need not be read and checked again. */
  offer(pos: number, thread: number, { seq, body }: Pick<Entry, 'seq' | 'body'>): void {
    if (this.#held > HELD_CHARS) return;
    this.#fresh.push({ pos, thread, body: seq > 0 ? body : '' });
    this.#held += (seq > 0 ? body.length : 0) + SPARE_CHARS;
  }

  /** Indexes entries inside the open transaction: one, and further ones as long as it may. */
  take(mayGoOn: () => boolean): Stretch {
    const damaged: number[] = [];
    const from = this.#position;
    let more = false;
    let together: Fresh[] = [];
    let chars = 0;
    this.#tune();
    for (const entry of this.#coming(damaged)) {
      together.push(entry);
      chars += entry.body.length;
      this.#position = entry.pos;
      more = !mayGoOn();
      if (!more && together.length < TOGETHER && chars < TOGETHER_CHARS) continue;
      this.#add(together, damaged);
      together = [];
      chars = 0;
      if (more) break;
    }
    if (this.#position > from) {
      // Where there was nothing to be found, that is counted too.
      this.#add(together, damaged);
      this.place();
    }
    return { more, damaged };
  }

  /** What follows the index's place, in order: what is not at hand is read from the disk and checked. */
  *#coming(damaged: number[]): Generator<Fresh> {
    for (let isLevel = false; !isLevel;) {
      isLevel = true;
      const next = this.#fresh[0]?.pos ?? Infinity;
      if (next > this.#position + 1) {
        for (const row of this.#sql.next.iterate(this.#position)) {
          const { pos, thread, seq, before, hash, json } = row;
          if (pos >= next) break;
          const isSound = link(before ?? CHAIN_START, json) === hash;
          if (!isSound) damaged.push(pos);
          yield { pos, thread, body: isSound && seq > 0 ? readEntry(json).body : '' };
        }
      }
      while (this.#fresh[0]?.pos === this.#position + 1) {
        isLevel = false;
        // The loop has seen it stand there.
        const fresh = this.#fresh.shift() as Fresh;
        this.#held -= fresh.body.length + SPARE_CHARS;
        yield fresh;
      }
    }
  }

  #add(entries: readonly Fresh[], damaged: number[]): void {
    const added: { id: bigint; text: string }[] = [];
    const grown = new Set<Block>();
    for (const { pos, thread, body } of entries) {
      if (body === '') continue;
      const place = this.#place(thread);
      if (place === undefined) damaged.push(pos);
      if (place === undefined) continue;
      const block = this.#block(place.workspace, pos);
      block.messages++;
      grown.add(block);
      const text = `${unmarked(body)} ${place.marks} ${mark.block(block.id)}`;
      added.push({ id: rowsOf(place.workspace).first + BigInt(pos), text });
      this.#pagesToMerge += text.length / BYTES_PER_PAGE;
    }
    // Rows out of their order would each begin a new segment of the index.
    for (const { id, text } of added.toSorted((a, b) => (a.id < b.id ? -1 : 1))) this.#sql.add.run(id, text);
    for (const { id, messages } of grown) this.#sql.growBlock.run(messages, id);
    this.#tallies.add('search', added.length, 0);
  }

  /** Merges a little of what was indexed, inside the open transaction. */
  merge(): void {
    const pages = Math.min(MERGED_AT_ONCE, Math.ceil(this.#pagesToMerge));
    if (pages > 0) this.#sql.merge.run(pages);
    this.#pagesToMerge = Math.max(0, this.#pagesToMerge - pages);
  }

  /** Writes the index's place anew, inside the open transaction. */
  place(): void {
    this.#sql.move.run(this.#position, sumOfFollower(this.#position));
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
    this.#places.clear();
    this.#blocks.clear();
  }

  /** Empties the index, in a transaction of its own: it is made again from the log. */
  startAnew(): number {
    this.#tallies.forget();
    emptyIndex(this.#db);
    this.#isDoubted = false;
    this.#pagesToMerge = 0;
    this.#kept = 0;
    this.drop();
    return 0;
  }

  /** Merging is done in stretches like indexing, and not by FTS5 in the midst of somebody's commit. */
  #tune(): void {
    if (this.#isTuned) return;
    const row = this.#db.prepare("SELECT v FROM search_config WHERE k = 'automerge'").get();
    if (row?.['v'] !== 0)
      this.#db.exec(`INSERT INTO search (search, rank) VALUES ('automerge', 0), ('crisismerge', ${CRISIS})`);
    this.#isTuned = true;
  }

  /** Undefined where the thread's own row is damaged. */
  #place(thread: number): Place | undefined {
    if (this.#places.has(thread)) return this.#places.get(thread);
    if (this.#places.size >= CACHED_THREADS) this.#places.clear();
    const place = this.#findPlace(thread);
    this.#places.set(thread, place);
    return place;
  }

  #findPlace(thread: number): Place | undefined {
    const row = this.#sql.thread.get(thread);
    if (row === undefined) return undefined;
    try {
      const { side_of, workspace_id } = readThread(row).state;
      const workspace = this.#workspace(workspace_id);
      const marks = [mark.workspace(workspace), mark.thread(thread), mark.audience(thread)];
      const main = side_of === undefined ? undefined : this.#sql.threadId.get(side_of);
      if (main !== undefined) marks.push(mark.audience(main.id));
      return { workspace, marks: marks.join(' ') };
    } catch {
      return undefined;
    }
  }

  #workspace(workspaceId: string): number {
    this.#sql.addWorkspace.run(workspaceId);
    return oneRow(this.#sql.workspace.get(workspaceId)).id;
  }

  #block(workspace: number, pos: number): Block {
    const newest = this.#blocks.get(workspace) ?? this.#sql.newestBlock.get(workspace);
    const block = newest === undefined || newest.messages >= BLOCK ? this.#newBlock(workspace, pos) : newest;
    if (this.#blocks.size >= CACHED_THREADS) this.#blocks.clear();
    this.#blocks.set(workspace, block);
    return block;
  }

  #newBlock(workspace: number, pos: number): Block {
    return { id: Number(this.#sql.addBlock.run(workspace, pos).lastInsertRowid), messages: 0 };
  }
}

/** Leaves an index of nothing, whatever was there before. */
export function emptyIndex(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE');
  dropIndex(db);
  makePart(db, 'search');
  db.exec(
    "DELETE FROM searched_blocks; DELETE FROM searched_workspaces; DELETE FROM followers WHERE name = 'search'",
  );
  const tallies = new Tallies(db);
  tallies.set('search', { rows: 0, sums: 0 });
  tallies.flush();
  db.exec('COMMIT');
}

function dropIndex(db: DatabaseSync): void {
  try {
    db.exec('DROP TABLE IF EXISTS search');
  } catch {
    // FTS5 wants to read its own settings before it lets go.
    db.enableDefensive(false);
    db.exec(
      "CREATE TABLE IF NOT EXISTS search_config (k PRIMARY KEY, v) WITHOUT ROWID; INSERT OR REPLACE INTO search_config VALUES ('version', 4)",
    );
    db.enableDefensive(true);
    db.exec('DROP TABLE IF EXISTS search');
  }
}

/** How far the index has come; undefined where its row is not as it was written. */
export function followerPosition(db: DatabaseSync): number | undefined {
  const row = db
    .prepare<{ pos: number; sum: string }>("SELECT pos, sum FROM followers WHERE name = 'search'")
    .get();
  if (row === undefined) return 0;
  return sumOfFollower(row.pos) === row.sum ? row.pos : undefined;
}

function sumOfFollower(pos: number): string {
  return rowSum('search', pos);
}

function prepareStatements(db: DatabaseSync) {
  const prepare = <R>(sql: string): StatementSync<R> => db.prepare<R>(sql);
  return {
    next: prepare<Row>(
      `SELECT e.pos, e.thread, e.seq, e.hash, e.json,
       (SELECT b.hash FROM entries b WHERE b.thread = e.thread AND b.seq = e.seq - 1) AS before
       FROM entries e WHERE e.pos > ? ORDER BY e.pos`,
    ),
    merge: prepare("INSERT INTO search (search, rank) VALUES ('merge', ?)"),
    add: prepare('INSERT INTO search (rowid, body) VALUES (?, ?)'),
    move: prepare("INSERT OR REPLACE INTO followers (name, pos, sum) VALUES ('search', ?, ?)"),
    thread: prepare<ThreadRecord>(
      `SELECT ${THREAD_COLUMNS} FROM threads t LEFT JOIN heads h ON h.thread = t.id WHERE t.id = ?`,
    ),
    threadId: prepare<{ id: number }>('SELECT id FROM threads WHERE thread_id = ?'),
    workspace: prepare<{ id: number }>('SELECT id FROM searched_workspaces WHERE workspace_id = ?'),
    addWorkspace: prepare('INSERT OR IGNORE INTO searched_workspaces (workspace_id) VALUES (?)'),
    newestBlock: prepare<Block>(
      'SELECT id, messages FROM searched_blocks WHERE workspace = ? ORDER BY first DESC LIMIT 1',
    ),
    addBlock: prepare('INSERT INTO searched_blocks (workspace, first, messages) VALUES (?, ?, 0)'),
    growBlock: prepare('UPDATE searched_blocks SET messages = ? WHERE id = ?'),
  };
}
