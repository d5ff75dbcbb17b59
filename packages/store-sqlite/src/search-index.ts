import { CHAIN_START, type Entry, link } from '@parley/core';

import { rowSum } from './row-sum.ts';
import { makePart } from './schema-parts.ts';
import { BLOCK, mark, rowsOf, unmarked } from './search-marks.ts';
import type { DatabaseSync, StatementSync } from './sqlite.ts';
import { Tallies } from './tallies.ts';
import { readThread, THREAD_COLUMNS, type ThreadRecord } from './thread-record.ts';

const STEP = 100;
const CACHED_THREADS = 2_000;

interface Row {
  pos: number;
  thread: number;
  seq: number;
  before: string | null;
  hash: string;
  json: string;
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

/** A durable follower of the log that keeps the full-text index; it works in small steps while nobody writes. */
export class SearchIndex {
  readonly #db: DatabaseSync;
  readonly #tallies: Tallies;
  readonly #sql: ReturnType<typeof prepareStatements>;
  readonly #places = new Map<number, Place | undefined>();
  readonly #blocks = new Map<number, Block>();
  #position: number;
  #isDoubted = false;

  constructor(db: DatabaseSync, tallies: Tallies) {
    this.#db = db;
    this.#tallies = tallies;
    this.#sql = prepareStatements(db);
    this.#position = followerPosition(db) ?? this.startAnew();
  }

  /** The index cannot be read: the next step begins it anew. */
  doubt(): void {
    this.#isDoubted = true;
  }

  /** Indexes a few more entries and says whether there are more; a damaged one is told of and left out. */
  step(): { more: boolean; damaged: number[] } {
    if (this.#isDoubted) this.startAnew();
    const rows = this.#sql.next.all(this.#position, STEP) as unknown as Row[];
    const last = rows.at(-1);
    if (last === undefined) return { more: false, damaged: [] };
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      const damaged = this.#add(rows);
      this.#sql.move.run(last.pos, sumOfFollower(last.pos));
      this.#tallies.flush();
      this.#db.exec('COMMIT');
      this.#position = last.pos;
      return { more: rows.length === STEP, damaged };
    } catch (error) {
      // What is remembered may not have been written.
      this.#places.clear();
      this.#blocks.clear();
      throw error;
    }
  }

  /** Empties the index: it is made again from the log. */
  startAnew(): number {
    this.#places.clear();
    this.#blocks.clear();
    this.#tallies.forget();
    emptyIndex(this.#db);
    this.#isDoubted = false;
    this.#position = 0;
    return 0;
  }

  #add(rows: readonly Row[]): number[] {
    const damaged: number[] = [];
    const added: { id: bigint; text: string }[] = [];
    const grown = new Set<Block>();
    for (const { pos, thread, seq, before, hash, json } of rows) {
      const place = link(before ?? CHAIN_START, json) === hash ? this.#place(thread) : undefined;
      if (place === undefined) damaged.push(pos);
      if (place === undefined || seq === 0) continue;
      const block = this.#block(place.workspace, pos);
      block.messages++;
      grown.add(block);
      const text = `${unmarked((JSON.parse(json) as Entry).body)} ${place.marks} ${mark.block(block.id)}`;
      added.push({ id: rowsOf(place.workspace).first + BigInt(pos), text });
    }
    // Rows out of their order would each begin a new segment of the index.
    for (const { id, text } of added.toSorted((a, b) => (a.id < b.id ? -1 : 1))) this.#sql.add.run(id, text);
    for (const { id, messages } of grown) this.#sql.growBlock.run(messages, id);
    this.#tallies.add('search', added.length, 0);
    return damaged;
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
    const row = this.#sql.thread.get(thread) as ThreadRecord | undefined;
    if (row === undefined) return undefined;
    try {
      const { side_of, workspace_id } = readThread(row).state;
      const workspace = this.#workspace(workspace_id);
      const marks = [mark.workspace(workspace), mark.thread(thread), mark.audience(thread)];
      const main = side_of === undefined ? undefined : this.#sql.threadId.get(side_of);
      if (main !== undefined) marks.push(mark.audience((main as { id: number }).id));
      return { workspace, marks: marks.join(' ') };
    } catch {
      return undefined;
    }
  }

  #workspace(workspaceId: string): number {
    this.#sql.addWorkspace.run(workspaceId);
    return (this.#sql.workspace.get(workspaceId) as { id: number }).id;
  }

  #block(workspace: number, pos: number): Block {
    const newest = this.#blocks.get(workspace) ?? (this.#sql.newestBlock.get(workspace) as Block | undefined);
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
  const row = db.prepare("SELECT pos, sum FROM followers WHERE name = 'search'").get() as
    | { pos: number; sum: string }
    | undefined;
  if (row === undefined) return 0;
  return sumOfFollower(row.pos) === row.sum ? row.pos : undefined;
}

function sumOfFollower(pos: number): string {
  return rowSum('search', pos);
}

function prepareStatements(db: DatabaseSync) {
  const prepare = (sql: string): StatementSync => db.prepare(sql);
  return {
    next: prepare(
      `SELECT e.pos, e.thread, e.seq, e.hash, e.json,
       (SELECT b.hash FROM entries b WHERE b.thread = e.thread AND b.seq = e.seq - 1) AS before
       FROM entries e WHERE e.pos > ? ORDER BY e.pos LIMIT ?`,
    ),
    add: prepare('INSERT INTO search (rowid, body) VALUES (?, ?)'),
    move: prepare("INSERT OR REPLACE INTO followers (name, pos, sum) VALUES ('search', ?, ?)"),
    thread: prepare(
      `SELECT ${THREAD_COLUMNS} FROM threads t LEFT JOIN heads h ON h.thread = t.id WHERE t.id = ?`,
    ),
    threadId: prepare('SELECT id FROM threads WHERE thread_id = ?'),
    workspace: prepare('SELECT id FROM searched_workspaces WHERE workspace_id = ?'),
    addWorkspace: prepare('INSERT OR IGNORE INTO searched_workspaces (workspace_id) VALUES (?)'),
    newestBlock: prepare(
      'SELECT id, messages FROM searched_blocks WHERE workspace = ? ORDER BY first DESC LIMIT 1',
    ),
    addBlock: prepare('INSERT INTO searched_blocks (workspace, first, messages) VALUES (?, ?, 0)'),
    growBlock: prepare('UPDATE searched_blocks SET messages = ? WHERE id = ?'),
  };
}
