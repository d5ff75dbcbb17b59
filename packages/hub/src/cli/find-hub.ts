import { join } from 'node:path';

import { HUB_FILE, type HubFile, readHubFile } from '@parley/protocol';
import { isFolderLocked } from '@parley/store-sqlite';

import { readPrivateFile } from '../data-folder.ts';

/** Finds the running hub of a data folder by the lock it holds: a file left behind by a dead one leads nowhere. */
export function findHub(folder: string): HubFile | undefined {
  if (!isFolderLocked(folder)) return undefined;
  return readHubFile(readPrivateFile(join(folder, HUB_FILE)) ?? '{}');
}
