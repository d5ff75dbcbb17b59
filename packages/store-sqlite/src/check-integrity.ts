import type { DatabaseSync } from './sqlite.ts';

/** What SQLite finds wrong with its own file, and with the index of words inside it, which can be made anew. */
export interface Integrity {
  damage: string[];
  index: string[];
}

/** SQLite's own check. */
export function checkIntegrity(db: DatabaseSync, most: number): Integrity {
  const found = (sql: string): string[] =>
    db
      .prepare(sql)
      .all()
      .map((row) => String(Object.values(row)[0]))
      .filter((text) => text !== 'ok');
  try {
    const all = found(`PRAGMA integrity_check(${most})`);
    return {
      damage: all.filter((text) => !isOfIndex(text)),
      index: all.filter((text) => isOfIndex(text)),
    };
  } catch (error) {
    // An index of words that cannot even be opened keeps SQLite from checking the rest at once.
    if (!isOfIndex(error)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const tables = db.prepare<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'search*'",
    );
    const names = tables.all().map(({ name }) => name);
    return { damage: names.flatMap((name) => found(`PRAGMA integrity_check('${name}')`)), index: [message] };
  }
}

const CORRUPT_INDEX = 267;

/** True for what SQLite says when the index of words is damaged. */
export function isOfIndex(said: unknown): boolean {
  if (said instanceof Error && 'errcode' in said && said.errcode === CORRUPT_INDEX) return true;
  const text = said instanceof Error ? said.message : String(said);
  return /fts5|vtable constructor failed: search|no such table: (?:main\.)?search/i.test(text);
}
