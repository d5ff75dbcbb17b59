import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { syncFolderSync } from '@parley/files';
import { ParleyError } from '@parley/protocol';

import { openRecord } from './open-record.ts';
import { DATABASE_FILE } from './open-store.ts';
import { SQLITE_FULL, sqliteCode } from './sqlite.ts';

/** Copies the record as it is at one moment into another folder, while the hub goes on; never over an existing one. */
export function backupRecord(folder: string, target: string): string {
  const path = join(target, DATABASE_FILE);
  if (existsSync(path)) throw new ParleyError('CONFLICT', `${path} is there already`);
  const db = openRecord(folder);
  try {
    db.prepare('VACUUM INTO ?').run(path);
  } catch (error) {
    if (sqliteCode(error) === SQLITE_FULL)
      throw new ParleyError('UNAVAILABLE', 'the disk is full; nothing was written');
    throw error;
  } finally {
    db.close();
  }
  // A power loss may bring back a name that was removed: the copy's rollback journal would undo the copy.
  syncFolderSync(target);
  return path;
}
