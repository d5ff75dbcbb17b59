import type { DatabaseSync, StatementSync } from './sqlite.ts';

/** How many keys are looked at at once. */
const AT_ONCE = 100;

/** Forgets idempotency keys that no longer bind: round the table once whenever it is told how old they must be. */
export class KeySweep {
  readonly #some: StatementSync<{ name: string; at: number }>;
  readonly #drop: StatementSync;
  #before: number | undefined;
  #past = '';

  constructor(db: DatabaseSync) {
    this.#some = db.prepare<{ name: string; at: number }>(
      `SELECT name, at FROM idempotency WHERE name > ? ORDER BY name LIMIT ${AT_ONCE}`,
    );
    this.#drop = db.prepare('DELETE FROM idempotency WHERE name = ?');
  }

  /** Keys from before this moment are to go; a round that is under way goes on. */
  begin(before: number): void {
    this.#before = before;
  }

  /** True while a round is under way. */
  get isUnderWay(): boolean {
    return this.#before !== undefined;
  }

  /** Goes a little further, inside the open transaction. */
  step(): void {
    const before = this.#before;
    if (before === undefined) return;
    const rows = this.#some.all(this.#past);
    for (const { name, at } of rows) if (at < before) this.#drop.run(name);
    const isOver = rows.length < AT_ONCE;
    this.#past = isOver ? '' : (rows.at(-1)?.name ?? '');
    if (isOver) this.#before = undefined;
  }
}
