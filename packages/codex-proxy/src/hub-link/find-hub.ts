import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { HUB_FILE, HUB_LOCK, type HubFile, readHubFile } from '@parley/protocol';
import { isFileLocked } from '@parley/sqlite';

/** The hub that runs on a data folder of this user; a file that a dead one left, or another user put there, leads nowhere. */
export function findHub(folder: string): HubFile | undefined {
  const path = join(folder, HUB_FILE);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !isFileLocked(join(folder, HUB_LOCK))) return undefined;
  const isOurs = stat.isFile() && (process.getuid === undefined || stat.uid === process.getuid());
  if (!isOurs || (stat.mode & 0o077) !== 0) throw new Error(`${path} is open to others: not used`);
  return readHubFile(readFileSync(path, 'utf8'));
}
