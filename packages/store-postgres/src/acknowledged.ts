import { ParleyError } from '@parley/protocol';

import { readCount } from './rows.ts';
import { type Ask, sql } from './sql.ts';

/** Where a node keeps, over its restarts, how far it has acknowledged. */
export interface AcknowledgedNote {
  read(): Record<string, number>;
  write(heads: Record<string, number>): void;
}

const NOTE_MS = 5_000;
/** So many workspaces are noted, those of the last acknowledgements. */
const MOST = 1_000;

/**
 * How far this node has acknowledged, by workspace. A database that is behind that was restored from an older copy: what
 * it would give out again as a position, others hold already for something else. It is noted every few seconds and at
 * the end, so that a start knows it too.
 */
export class Acknowledged {
  readonly #note: AcknowledgedNote;
  readonly #heads: Map<string, number>;
  #isNew = false;
  readonly #timer: NodeJS.Timeout;

  constructor(note: AcknowledgedNote) {
    this.#note = note;
    this.#heads = new Map(Object.entries(note.read()));
    this.#timer = setInterval(() => this.save(), NOTE_MS).unref();
  }

  /** Holds the whole note against the database, before anything is served. */
  async check(ask: Ask): Promise<void> {
    const names = [...this.#heads.keys()];
    if (names.length === 0) return;
    const rows = await ask<{ workspace_id: string; pos: number; sum: string }>(sql`
      SELECT workspace_id, pos, sum FROM workspaces WHERE workspace_id = ANY(${names})`);
    const found = new Map(rows.map((row) => [row.workspace_id, readCount(row)]));
    for (const name of names) this.compare(name, found.get(name) ?? 0);
  }

  /** Refuses a count that is behind what was acknowledged. */
  compare(workspaceId: string, pos: number): void {
    const known = this.#heads.get(workspaceId) ?? 0;
    if (pos >= known) return;
    throw new BehindError(workspaceId, pos, known);
  }

  /** Everything up to here was acknowledged. */
  reached(workspaceId: string, pos: number): void {
    if ((this.#heads.get(workspaceId) ?? 0) >= pos) return;
    this.#heads.delete(workspaceId);
    this.#heads.set(workspaceId, pos);
    if (this.#heads.size > MOST) this.#heads.delete(this.#heads.keys().next().value ?? '');
    this.#isNew = true;
  }

  save(): void {
    if (!this.#isNew) return;
    this.#isNew = false;
    this.#note.write(Object.fromEntries(this.#heads));
  }

  close(): void {
    clearInterval(this.#timer);
    this.save();
  }
}

/** The database lacks what this node has acknowledged; nothing is written to it before a person has decided. */
export class BehindError extends ParleyError {
  constructor(workspaceId: string, pos: number, known: number) {
    super(
      'UNAVAILABLE',
      `the database is behind what this node has acknowledged (workspace ${workspaceId} is at ${pos}, ${known} were acknowledged): it was restored from an older copy; restore a newer one, or remove acknowledged.json from the data folder of each node to give up what is missing`,
      { reason: 'behind' },
    );
  }

  /** The same without whose workspace it is and how much is in it: those who wrote together may be of several. */
  forCallers(): ParleyError {
    const words =
      'the database is behind what this node has acknowledged: it was restored from an older copy; nothing was written';
    return new ParleyError('UNAVAILABLE', words, {
      reason: 'behind',
      hint: 'tell whoever runs the hub: its log says what to do',
    });
  }
}
