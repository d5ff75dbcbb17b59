import { damaged, rowSum } from '@parley/store-rows';
import { type DatabaseSync, type StatementSync, oneRow } from './sqlite.ts';

/** A run of the log: where it begins among all rows, and with which position of its workspace. */
export interface Run {
  pos: number;
  workspace_id: string;
  place: number;
}

type Row = Run & { sum: string; past: number };

/** The row after the last one of a run `r`. */
export const PAST = `coalesce((SELECT min(n.pos) FROM runs n WHERE n.pos > r.pos), (SELECT max(pos) + 1 FROM entries))`;

/** The sum of a run's row. */
export function sumOfRun({ pos, workspace_id, place }: Run): string {
  return rowSum('run', pos, workspace_id, place);
}

/** Refuses a run that is not as it was written. */
export function checkRun(run: Run & { sum: string }): void {
  if (sumOfRun(run) !== run.sum) throw damaged(`the positions of workspace ${run.workspace_id}`);
}

/** What turns rows of the log into positions of a workspace. */
export class Runs {
  readonly #last: StatementSync<Row>;
  readonly #at: StatementSync<Row>;
  readonly #next: StatementSync<{ workspace_id: string | null }>;
  readonly #oneCount: StatementSync<{ pos: number; sum: string }>;

  constructor(db: DatabaseSync) {
    const select = `SELECT r.pos, r.workspace_id, r.place, r.sum, ${PAST} AS past FROM runs r`;
    this.#last = db.prepare<Row>(`${select} WHERE r.workspace_id = ? ORDER BY r.place DESC LIMIT 1`);
    this.#at = db.prepare<Row>(
      `${select} WHERE r.workspace_id = ? AND r.pos <= ? ORDER BY r.place DESC LIMIT 1`,
    );
    this.#next = db.prepare<{ workspace_id: string | null }>(
      'SELECT min(workspace_id) AS workspace_id FROM runs WHERE workspace_id > ?',
    );
    this.#oneCount = db.prepare<{ pos: number; sum: string }>(
      "SELECT pos, sum FROM followers WHERE name = 'one count'",
    );
  }

  /** How many entries a workspace has. */
  head(workspaceId: string): number {
    const row = this.#last.get(workspaceId);
    return row === undefined ? 0 : lastPlace(row, row.past - 1);
  }

  /** How many entries of a workspace stand in the rows up to one. */
  upTo(workspaceId: string, pos: number): number {
    const row = this.#at.get(workspaceId, pos);
    return row === undefined ? 0 : lastPlace(row, Math.min(pos, row.past - 1));
  }

  /** The first workspace after a name. */
  next(past: string): string | undefined {
    return oneRow(this.#next.get(past)).workspace_id ?? undefined;
  }

  /** Where a cursor stands that may be of the one count over all workspaces. */
  placeOf(workspaceId: string, cursor: number): number {
    const kept = this.#oneCount.get();
    if (kept === undefined) return cursor;
    const isKnown = rowSum('one count', kept.pos) === kept.sum;
    return isKnown && cursor > kept.pos ? cursor : this.upTo(workspaceId, cursor);
  }
}

function lastPlace(run: Row, pos: number): number {
  checkRun(run);
  return run.place + pos - run.pos;
}
