import type { DatabaseSync } from './sqlite.ts';

/** One number out of a pragma or a counting query. */
export function number(db: DatabaseSync, sql: string): number {
  const row = db.prepare(sql).get();
  return Number(row === undefined ? 0 : Object.values(row)[0]);
}
