import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';

import { ParleyError } from '@parley/protocol';

import { openRecord } from './open-record.ts';
import { DATABASE_FILE } from './open-store.ts';

/** Copies the record as it is at one moment into another folder, while the hub goes on; never over an existing one. */
export function backupRecord(folder: string, target: string): string {
  const path = join(target, DATABASE_FILE);
  if (existsSync(path)) throw new ParleyError('CONFLICT', `${path} is there already`);
  const db = openRecord(folder);
  try {
    db.prepare('VACUUM INTO ?').run(path);
  } finally {
    db.close();
  }
  // A power loss may bring back a name that was removed: the copy's rollback journal would undo the copy.
  const folderHandle = openSync(target, 'r');
  try {
    fsyncSync(folderHandle);
  } finally {
    closeSync(folderHandle);
  }
  return path;
}
