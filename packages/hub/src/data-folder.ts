import { chmodSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolderSync, removeAbandoned, writeWholeSync } from '@parley/files';
import { ParleyError, errorCode } from '@parley/protocol';

import { STORE_FILE } from './config/store-note.ts';

/** Files the hub keeps in its folder; each must be a plain file of ours before it is opened. */
export const FILES = [
  'parley.db',
  'parley.db-wal',
  'parley.db-shm',
  'parley.db-journal',
  'hub.lock',
  'hub.lock-journal',
  'hub.json',
  'init.json',
  'artifact-keys.json',
  'auth.json',
  'lan.json',
  'push.json',
  'auth.lock',
  'auth.lock-journal',
  'slo.json',
  STORE_FILE,
  'acknowledged.json',
  'reserve',
];

/** Makes the data folder private and sure: ours, 0700, nothing in it a link planted by someone else. */
export function prepareFolder(folder: string): void {
  process.umask(0o077);
  try {
    makeFolderSync(folder);
    const { uid } = lstatSync(folder);
    if (process.getuid !== undefined && uid !== process.getuid())
      throw new Error('it belongs to another user');
    chmodSync(folder, 0o700);
    removeAbandoned(folder);
  } catch (error) {
    throw new ParleyError(
      'UNAVAILABLE',
      `the data folder ${folder} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  for (const name of FILES) checkPlainFile(join(folder, name));
}

/** Refuses a path that is a link, shared with another name, or not a file at all. */
function checkPlainFile(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isFile() || stat.nlink !== 1) {
    throw new ParleyError(
      'UNAVAILABLE',
      `${path} is not a plain file of its own (a link may have been planted); move it away`,
    );
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o600);
}

/** Replaces a small private file: the old one or the new one is there, whole, whatever happens. */
export function writePrivateFile(path: string, text: string): void {
  checkPlainFile(path);
  writeWholeSync(path, text);
}

/** Reads a private file; undefined when it is not there. */
export function readPrivateFile(path: string): string | undefined {
  checkPlainFile(path);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
