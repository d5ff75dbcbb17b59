import { dirname } from 'node:path';

import { makeFolderSync, writeWhole as writeInFolder } from '@parley/files';

/** Puts a file in place, and its folder where it is the first: whole and durable, or all is as it was. */
export async function writeWhole(path: string, text: string): Promise<void> {
  makeFolderSync(dirname(path));
  await writeInFolder(path, text);
}
