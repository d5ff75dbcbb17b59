import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ParleyError } from '@parley/protocol';
import { type FileLock, lockFile, sqliteModule } from '@parley/sqlite';

const HUB_LOCK = 'hub.lock';

/** Long enough to outlast those who only look whether the lock is held. */
const LOOK_MS = 500;

/** One hub per data folder. */
export function lockFolder(folder: string): FileLock {
  try {
    return lockFile(join(folder, HUB_LOCK), LOOK_MS);
  } catch (error) {
    if (error instanceof ParleyError)
      throw new ParleyError('CONFLICT', `another hub is running on ${folder}`);
    throw error;
  }
}

/** True while a hub runs on the folder; looks without taking the lock or making a file. */
export function isFolderLocked(folder: string): boolean {
  const path = join(folder, HUB_LOCK);
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
