import type { Entry } from '@parley/core';

import type { DatabaseSync, StatementSync } from './sqlite.ts';

const STEP = 100;

/** A durable follower of the log that keeps the full-text index; it works in small steps while nobody writes. */
export class SearchIndex {
  readonly #db: DatabaseSync;
  readonly #next: StatementSync;
  readonly #add: StatementSync;
  readonly #move: StatementSync;
  #position: number;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#next = db.prepare('SELECT pos, seq, json FROM entries WHERE pos > ? ORDER BY pos LIMIT ?');
    this.#add = db.prepare('INSERT INTO search (rowid, body) VALUES (?, ?)');
    this.#move = db.prepare("INSERT OR REPLACE INTO followers (name, pos) VALUES ('search', ?)");
    const row = db.prepare("SELECT pos FROM followers WHERE name = 'search'").get() as
      | { pos: number }
      | undefined;
    this.#position = row?.pos ?? 0;
  }

  /** Indexes a few more entries; false once it has caught up. */
  step(): boolean {
    const rows = this.#next.all(this.#position, STEP) as { pos: number; seq: number; json: string }[];
    const last = rows.at(-1);
    if (last === undefined) return false;
    this.#db.exec('BEGIN IMMEDIATE');
    for (const { pos, seq, json } of rows) {
      if (seq > 0) this.#add.run(pos, (JSON.parse(json) as Entry).body);
    }
    this.#move.run(last.pos);
    this.#db.exec('COMMIT');
    this.#position = last.pos;
    return rows.length === STEP;
  }
}
