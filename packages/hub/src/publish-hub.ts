import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { HUB_FILE, type HubFile } from '@parley/protocol';

import { writePrivateFile } from './data-folder.ts';

/** Writes where the hub is found, or that there is none. Without it the hub runs all the same, for those who know where. */
export function publishHub(
  folder: string,
  about: HubFile | undefined,
  onFault: (error: unknown) => void,
): void {
  const path = join(folder, HUB_FILE);
  try {
    writePrivateFile(path, `${JSON.stringify(about ?? {})}\n`);
  } catch (error) {
    // What another hub left behind must not be taken for this one.
    rmSync(path, { force: true });
    onFault(error);
  }
}
