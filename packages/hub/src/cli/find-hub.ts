import { join } from 'node:path';

import { isFolderLocked } from '@parley/store-sqlite';

import { readPrivateFile } from '../data-folder.ts';

/** The hub that runs on a data folder. */
export interface FoundHub {
  url: string;
  pid: number;
  version: string;
}

/** Finds the running hub by the lock it holds: a file left behind by a dead one leads nowhere. */
export function findHub(folder: string): FoundHub | undefined {
  if (!isFolderLocked(folder)) return undefined;
  const text = readPrivateFile(join(folder, 'hub.json')) ?? '{}';
  const { url, pid, version } = JSON.parse(text) as Partial<FoundHub>;
  return url === undefined || pid === undefined || version === undefined ? undefined : { url, pid, version };
}
