import { dirname } from 'node:path';

import { errorCode } from '@parley/protocol';
import { makeFolderSync, writeWhole as writeInFolder } from '@parley/files';

/** Puts a file in place, and its folder where it is the first: whole and durable, or all is as it was. */
export async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await writeInFolder(path, text);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    makeFolderSync(dirname(path));
    await writeInFolder(path, text);
  }
}
