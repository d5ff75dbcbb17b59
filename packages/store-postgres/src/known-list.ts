import type { PutRecord, RecordsAsked } from '@parley/core';
import { fieldsOf } from '@parley/protocol';

/** Lists of a workspace. */
export interface AskedList {
  workspace_id: string;
  asked: RecordsAsked;
}

/** One row of a list. */
export interface ListedRow {
  key: string;
  value: unknown;
}

/**
 * A list that a rule has asked for, kept as it stands while the commands of a transaction put and drop records: it is
 * asked for anew only where what is behind its end would have to be known.
 */
export class KnownList {
  readonly #asked: RecordsAsked;
  readonly #rows: ListedRow[];
  /** Nothing that is wanted stands behind its end. */
  #isWhole: boolean;

  constructor(asked: RecordsAsked, rows: readonly ListedRow[]) {
    this.#asked = asked;
    this.#rows = [...rows];
    this.#isWhole = rows.length < (asked.limit ?? Infinity);
  }

  get values(): unknown[] {
    return this.#rows.map(({ value }) => value);
  }

  /** Puts a record where it belongs; false where the list is not known any more. */
  put({ key, owner, value }: Pick<PutRecord, 'key' | 'owner' | 'value'>): boolean {
    if (!this.#wants(key, owner, value)) return this.drop(key);
    if ((this.#asked.offset ?? 0) > 0) return false;
    const at = this.#rows.findIndex((row) => row.key === key);
    if (at >= 0) {
      this.#rows[at] = { key, value };
      return true;
    }
    const next = this.#rows.findIndex((row) => this.#compare(row.key, key) > 0);
    this.#rows.splice(next < 0 ? this.#rows.length : next, 0, { key, value });
    if (this.#rows.length <= (this.#asked.limit ?? Infinity)) return true;
    this.#rows.pop();
    this.#isWhole = false;
    return true;
  }

  /** Takes a record out; false where the list is not known any more. */
  drop(key: string): boolean {
    if ((this.#asked.offset ?? 0) > 0) return false;
    const at = this.#rows.findIndex((row) => row.key === key);
    if (at < 0) return true;
    this.#rows.splice(at, 1);
    return this.#isWhole;
  }

  #wants(key: string, of: string, value: object): boolean {
    const { prefix = '', past, owner, standing } = this.#asked;
    const { delete_at } = fieldsOf(value);
    return (
      key.startsWith(prefix) &&
      (owner === undefined || owner === of) &&
      (past === undefined || this.#compare(key, past) > 0) &&
      (standing === undefined || typeof delete_at !== 'string' || delete_at > standing)
    );
  }

  /** By the bytes of the keys, as the database orders them. */
  #compare(a: string, b: string): number {
    const order = Buffer.compare(Buffer.from(a), Buffer.from(b));
    return this.#asked.descending === true ? -order : order;
  }
}
