import { closeSync, existsSync, openSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';

import { SQLITE_BUSY, sqliteCode, sqliteModule } from './sqlite.ts';

export interface FileLock {
  release(): void;
}

/** Takes a lock file for this process alone; the kernel gives it back when the process ends, however it ends. */
export function lockFile(path: string, waitMs: number): FileLock {
  createPrivate(path);
  const db = new (sqliteModule().DatabaseSync)(path, { timeout: waitMs });
  try {
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (sqliteCode(error) === SQLITE_BUSY)
      throw new ParleyError('CONFLICT', `${path} is held by another process`);
    const why = error instanceof Error ? error.message : String(error);
    throw new ParleyError('UNAVAILABLE', `${path} cannot be locked: ${why}`);
  }
  return { release: () => db.close() };
}

/** SQLite would make it readable for everybody. A file that is there is not opened: closing it would drop the lock. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there, or SQLite will say in its words why it cannot be.
  }
}

/** True while a process holds the lock; looks without taking it or making a file. */
export function isFileLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const db = new (sqliteModule().DatabaseSync)(path, { readOnly: true, timeout: 0 });
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch {
    return true;
  } finally {
    db.close();
  }
}
