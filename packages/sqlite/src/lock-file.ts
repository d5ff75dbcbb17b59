import { closeSync, existsSync, lstatSync, openSync } from 'node:fs';

import { ParleyError, errorText } from '@parley/protocol';

import { clearForeignLock, holderOf } from './foreign-lock.ts';
import { type DatabaseSync, SQLITE_BUSY, SQLITE_NOTADB, sqliteCode, sqliteModule } from './sqlite.ts';

export interface FileLock {
  release(): void;
}

/**
 * Takes a lock file for this process alone; the kernel gives it back when the process ends, however it ends.
 * Throws CONFLICT while another holds it, and any other code when the path cannot be a lock.
 */
export function lockFile(path: string, waitMs: number): FileLock {
  createPrivate(path);
  try {
    return tryLock(path, waitMs);
  } catch (error) {
    if (sqliteCode(error) !== SQLITE_NOTADB) throw refusal(path, error);
  }
  clearForeignLock(path);
  try {
    return tryLock(path, waitMs);
  } catch (error) {
    throw refusal(path, error);
  }
}

/** A lock that nobody holds on to would go with its connection when the memory is cleaned up. */
const held = new Set<DatabaseSync>();

function tryLock(path: string, waitMs: number): FileLock {
  const db = new (sqliteModule().DatabaseSync)(path, { timeout: waitMs });
  try {
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    throw error;
  }
  held.add(db);
  return {
    release() {
      if (held.delete(db)) db.close();
    },
  };
}

function refusal(path: string, error: unknown): ParleyError {
  return sqliteCode(error) === SQLITE_BUSY
    ? new ParleyError('CONFLICT', `${path} is held by another process`)
    : new ParleyError('UNAVAILABLE', `${path} cannot be locked: ${errorText(error)}`);
}

/** SQLite would make it readable for everybody, and follow a link. A file that is there is not opened: closing it would drop the lock. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) return; // SQLite will say in its words why it cannot be.
    const what = found.isSymbolicLink() ? 'a link' : 'no plain file';
    throw new ParleyError('FORBIDDEN', `${path} is ${what} and cannot be a lock; remove it`);
  }
}

/** True while a process holds the lock; looks without taking it or making a file. */
export function isFileLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const db = new (sqliteModule().DatabaseSync)(path, { readOnly: true, timeout: 0 });
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return sqliteCode(error) !== SQLITE_NOTADB || holderOf(path) !== undefined;
  } finally {
    db.close();
  }
}
