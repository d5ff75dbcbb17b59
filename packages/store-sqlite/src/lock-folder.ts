import { join } from 'node:path';

import { HUB_LOCK, ParleyError } from '@parley/protocol';
import { type FileLock, isFileLocked, lockFile } from '@parley/sqlite';

/** Long enough to outlast those who only look whether the lock is held. */
const LOOK_MS = 500;

/** One hub per data folder. */
export function lockFolder(folder: string): FileLock {
  try {
    return lockFile(join(folder, HUB_LOCK), LOOK_MS);
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'CONFLICT')
      throw new ParleyError('CONFLICT', `another hub is running on ${folder}`);
    throw error;
  }
}

/** True while a hub runs on the folder; looks without taking the lock or making a file. */
export function isFolderLocked(folder: string): boolean {
  return isFileLocked(join(folder, HUB_LOCK));
}
