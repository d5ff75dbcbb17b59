import { performance } from 'node:perf_hooks';

import { type DatabaseSync, type StatementSync, oneRow } from './sqlite.ts';

/** From so many pages on the write-ahead log is folded into the database. */
const LONG_PAGES = 2_000;
/** From so many on somebody is told: it should never grow so long. */
const TOO_LONG_PAGES = 32_000;
/** How often it is looked at. */
const LOOK_MS = 100;

interface WalSize {
  /** Pages in the write-ahead log. */
  log: number;
  /** How many of them are in the database too. */
  checkpointed: number;
}

/** Folds the write-ahead log into the database. SQLite's own automatic checkpoint keeps its failures to itself. */
export class Checkpoints {
  readonly #size: StatementSync<WalSize>;
  readonly #fold: StatementSync<WalSize>;
  readonly #onTooLong: (pages: number) => void;
  #lookedAt = -Infinity;
  #wasTold = false;

  constructor(db: DatabaseSync, onTooLong: (pages: number) => void) {
    db.exec('PRAGMA wal_autocheckpoint = 0');
    this.#size = db.prepare<WalSize>('PRAGMA wal_checkpoint(NOOP)');
    this.#fold = db.prepare<WalSize>('PRAGMA wal_checkpoint(PASSIVE)');
    this.#onTooLong = onTooLong;
  }

  /** Folds it when it is long; throws what SQLite says when that fails. */
  look(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    const { log, checkpointed } = oneRow(this.#size.get());
    if (log >= LONG_PAGES && checkpointed < log) this.fold();
  }

  /** Folds what no reader still needs. */
  fold(): void {
    const { log, checkpointed } = oneRow(this.#fold.get());
    const isTooLong = log - checkpointed >= TOO_LONG_PAGES;
    if (isTooLong && !this.#wasTold) this.#onTooLong(log);
    this.#wasTold = isTooLong;
  }
}
