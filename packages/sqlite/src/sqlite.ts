import { statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

import type {
  DatabaseSync as DatabaseSyncClass,
  DatabaseSyncInstance,
  StatementSyncInstance,
} from '@photostructure/sqlite';

export type DatabaseSync = DatabaseSyncInstance;
export type StatementSync = StatementSyncInstance;

/** The first SQLite whose WAL reset is sound. */
const OLDEST_SOUND = [3, 51, 3];

const require = createRequire(import.meta.url);

interface SqliteModule {
  DatabaseSync: typeof DatabaseSyncClass;
}

let chosen: SqliteModule | undefined;

/** Node's own SQLite where it is new enough, else the package with the same API and its binaries inside. */
export function sqliteModule(): SqliteModule {
  chosen ??= builtIn() ?? (require('@photostructure/sqlite') as SqliteModule);
  return chosen;
}

/** The version of the SQLite in use, and whose build it is. */
export function sqliteVersion(): string {
  const db = new (sqliteModule().DatabaseSync)(':memory:');
  try {
    const { version } = db.prepare('SELECT sqlite_version() AS version').get() as { version: string };
    return `${version} (${version === process.versions['sqlite'] ? "Node's own" : 'packaged'})`;
  } finally {
    db.close();
  }
}

function builtIn(): SqliteModule | undefined {
  const version = process.versions['sqlite']?.split('.').map(Number);
  if (version === undefined || isOlder(version, OLDEST_SOUND)) return undefined;
  try {
    return require('node:sqlite') as SqliteModule;
  } catch {
    return undefined;
  }
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
  const code = error instanceof Error ? (error as Error & { errcode?: unknown }).errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

export const SQLITE_BUSY = 5;
export const SQLITE_IOERR = 10;
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
