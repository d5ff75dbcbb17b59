import { ParleyError } from '@parley/protocol';

import { MIGRATIONS } from './sql/migrations.ts';
import type { DatabaseSync } from './sqlite.ts';

const NAME = /^CREATE (?:UNIQUE |VIRTUAL )*(?:TABLE|INDEX|TRIGGER) (\w+)/m;

/** What makes each table, index and trigger of the schema, by its name. */
const PARTS: ReadonlyMap<string, string> = new Map(
  MIGRATIONS.flatMap((sql) => sql.split(/;\n/)).flatMap((statement) => {
    const name = NAME.exec(statement)?.[1];
    return name === undefined ? [] : [[name, statement] as const];
  }),
);

/** Makes the tables, indexes and triggers that have gone, and names them; without the log itself there is nothing to make. */
export function makeMissingParts(db: DatabaseSync): string[] {
  const rows = db.prepare<{ name: string }>('SELECT name FROM sqlite_schema').all();
  // To SQLite a name is the same in capitals.
  const there = new Set(rows.map(({ name }) => name.toLowerCase()));
  const missing = [...PARTS.keys()].filter((name) => !there.has(name));
  if (missing.includes('entries'))
    throw new ParleyError('UNAVAILABLE', 'the log is gone from the database; restore a backup');
  for (const name of missing) makePart(db, name);
  return missing;
}

/** Makes one part of the schema. */
export function makePart(db: DatabaseSync, name: string): void {
  db.exec(PARTS.get(name) ?? '');
}

/** The indexes that are there and not as they are made: what asks by them is refused. */
export function changedIndexes(db: DatabaseSync): string[] {
  const rows = db
    .prepare<{ name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all();
  return rows
    .filter(({ name, sql }) => {
      const made = PARTS.get(name);
      return made !== undefined && made.slice(made.indexOf('CREATE')).trim() !== sql;
    })
    .map(({ name }) => name);
}
