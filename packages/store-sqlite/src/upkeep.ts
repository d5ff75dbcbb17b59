import { performance } from 'node:perf_hooks';

import type { Entry } from '@parley/core';

import { KeySweep } from './key-sweep.ts';
import { SearchIndex } from './search-index.ts';
import type { DatabaseSync } from './sqlite.ts';
import type { Tallies } from './tallies.ts';

/** How long a slice may index: with what else is in it and its part of the commit it stays below 5 ms. */
const SLICE_MS = 2;
/** At most this part of the writer's time is for upkeep while others wait: one of so many. */
const SHARE = 10;
/** From so many entries on the index is brought up at once; fewer wait for each other. */
const MANY = 64;
/** The longest that anything waits for its slice while others write. */
const LONGEST_WAIT_MS = 250;

/**
 * What can wait: the index of words, its merging, the sweep of old keys. Short slices of it ride in the transactions of
 * those who write and share their fsync, so that it needs no quiet moment, which a busy hub never has.
 */
export class Upkeep {
  readonly #search: SearchIndex;
  readonly #keys: KeySweep;
  readonly #onDamage: (positions: readonly number[]) => void;
  /** Since when something waits for a slice. */
  #since: number | undefined;
  #endedAt = -Infinity;
  #tookMs = 0;

  constructor(db: DatabaseSync, tallies: Tallies, onDamage: (positions: readonly number[]) => void) {
    this.#search = new SearchIndex(db, tallies);
    this.#keys = new KeySweep(db);
    this.#onDamage = onDamage;
  }

  /** An entry was sealed. */
  offer(pos: number, thread: number, entry: Entry): void {
    this.#search.offer(pos, thread, entry);
  }

  /** The index of words cannot be read. */
  doubtIndex(): void {
    this.#search.doubt();
  }

  /** Begins what is doubted anew, in a transaction of its own. */
  settle(): void {
    if (this.#search.isDoubted) this.#search.startAnew();
  }

  /** Begins a round that forgets the keys from before a moment. */
  forgetKeys(before: number): void {
    this.#keys.begin(before);
  }

  /** Somebody waits for the index: the next transaction carries a slice. */
  hasten(): void {
    this.#since = -Infinity;
  }

  /** True while there is anything to do, when the log has come as far as `head`. */
  isBehind(head: number): boolean {
    const { position, ragged, isDoubted } = this.#search;
    return position < head || this.#keys.isUnderWay || ragged !== 'no' || isDoubted;
  }

  /** True when the transaction of somebody else is to carry a slice. */
  isDue(head: number): boolean {
    if (!this.isBehind(head)) {
      this.#since = undefined;
      return false;
    }
    const now = performance.now();
    this.#since ??= now;
    if (now - this.#since >= LONGEST_WAIT_MS) return true;
    const isPressing = head - this.#search.position >= MANY || this.#search.ragged === 'much';
    return isPressing && now - this.#endedAt >= this.#tookMs * (SHARE - 1);
  }

  /** Does a slice inside the open transaction; whatever waits gets some of it. */
  slice(): void {
    const startedAt = performance.now();
    // Merging that was put off too long would have to be done all at once.
    if (this.#search.ragged === 'much') this.#search.merge();
    else {
      const { damaged, more } = this.#search.take(() => performance.now() - startedAt < SLICE_MS);
      if (damaged.length > 0) this.#onDamage(damaged);
      if (!more && performance.now() - startedAt < SLICE_MS / 2) this.#search.merge();
    }
    this.#keys.step();
    this.#since = undefined;
    this.#endedAt = performance.now();
    this.#tookMs = this.#endedAt - startedAt;
  }

  /** Writes something that changes nothing, inside the open transaction: to see whether the disk takes it. */
  probe(): void {
    this.#search.place();
  }

  /** The transaction is on disk. */
  keep(): void {
    this.#search.keep();
  }

  /** The transaction was rolled back. */
  drop(): void {
    this.#search.drop();
  }
}
