import { statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

import type {
  DatabaseSync as DatabaseSyncClass,
  DatabaseSyncInstance,
  StatementSyncInstance,
} from '@photostructure/sqlite';

/** A statement whose rows have the columns that its text names; `prepare` says which, beside that text. */
export interface StatementSync<Row = Record<string, unknown>> extends Omit<
  StatementSyncInstance,
  'get' | 'all' | 'iterate'
> {
  get(...parameters: unknown[]): Row | undefined;
  all(...parameters: unknown[]): Row[];
  iterate(...parameters: unknown[]): IterableIterator<Row>;
}

/** A database whose statements are typed by what they select. */
export interface DatabaseSync extends Omit<DatabaseSyncInstance, 'prepare'> {
  prepare<Row = Record<string, unknown>>(
    ...parameters: Parameters<DatabaseSyncInstance['prepare']>
  ): StatementSync<Row>;
}

/** The row of a statement that always has one, such as a count. */
export function oneRow<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('a statement that always has a row gave none');
  return row;
}

/** The statements of rows that are being read. */
const statementByRows = new WeakMap<object, object>();

/** The rows of a statement one by one, however long a reader takes: the package drops a statement that only its rows stand for. */
export function rowsOf<Row>(statement: StatementSync<Row>, ...parameters: unknown[]): IterableIterator<Row> {
  const rows = statement.iterate(...parameters);
  statementByRows.set(rows, statement);
  return rows;
}

/** The first SQLite whose WAL reset is sound. */
const OLDEST_SOUND = [3, 51, 3];

const require = createRequire(import.meta.url);

interface SqliteModule {
  DatabaseSync: new (...parameters: ConstructorParameters<typeof DatabaseSyncClass>) => DatabaseSync;
}

let chosen: SqliteModule | undefined;

/** Node's own SQLite where it is new enough, else the package with the same API and its binaries inside. */
export function sqliteModule(): SqliteModule {
  chosen ??= builtIn() ?? load('@photostructure/sqlite');
  return chosen;
}

/** The version of the SQLite in use, and whose build it is. */
export function sqliteVersion(): string {
  const db = new (sqliteModule().DatabaseSync)(':memory:');
  try {
    const { version } = oneRow(db.prepare<{ version: string }>('SELECT sqlite_version() AS version').get());
    return `${version} (${version === process.versions['sqlite'] ? "Node's own" : 'packaged'})`;
  } finally {
    db.close();
  }
}

function builtIn(): SqliteModule | undefined {
  const version = process.versions['sqlite']?.split('.').map(Number);
  if (version === undefined || isOlder(version, OLDEST_SOUND)) return undefined;
  try {
    return load('node:sqlite');
  } catch {
    return undefined;
  }
}

function load(name: 'node:sqlite' | '@photostructure/sqlite'): SqliteModule {
  // Both have this API; that a row has the columns of its statement is for whoever writes the statement to say.
  return require(name) as SqliteModule;
}

function isOlder(version: readonly number[], than: readonly number[]): boolean {
  for (const [i, part] of than.entries()) {
    const own = version[i] ?? 0;
    if (own !== part) return own < part;
  }
  return false;
}

/** The primary SQLite result code of a thrown error; undefined for anything else. */
export function sqliteCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

export const SQLITE_BUSY = 5;
export const SQLITE_IOERR = 10;
export const SQLITE_CORRUPT = 11;
export const SQLITE_FULL = 13;
export const SQLITE_PROTOCOL = 15;
export const SQLITE_NOTADB = 26;
/** What a connection needs on the disk before it can read: its share of memory is a file. */
const LEAST_ROOM = 64 * 1024;

/** True for what speaks against the moment and not against the file: the disk is full, or somebody else holds it. */
export function isPassing(error: unknown, path: string): boolean {
  const code = sqliteCode(error);
  if (code === SQLITE_FULL || code === SQLITE_BUSY || code === SQLITE_PROTOCOL) return true;
  const { bavail, bsize } = statfsSync(dirname(path));
  return code === SQLITE_IOERR && bavail * bsize < LEAST_ROOM;
}
