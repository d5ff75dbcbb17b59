import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import path from 'node:path';

/** Opens a file only where it truly lies in the folder. */
export async function openWithin(folder: string, name: string): Promise<FileHandle | undefined> {
  try {
    const [home, real] = await Promise.all([realpath(folder), realpath(name)]);
    if (!real.startsWith(home + path.sep)) return undefined;
    // A link that is put there meanwhile is not followed, and a pipe holds up nobody.
    return await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
