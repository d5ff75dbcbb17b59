import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Puts a file in place so that a reader, and a crash at any moment, sees the old one or the new one and nothing else. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeIn(folder, temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** The folder is there but for the first time. */
async function writeIn(folder: string, path: string, text: string): Promise<void> {
  try {
    await writeDurably(path, text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeDurably(path, text);
  }
}

/** Writes a file of our own that is not in place yet; a link in its stead is not followed. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a rename last through a loss of power. */
export async function syncFolder(folder: string): Promise<void> {
  const place = await open(folder, 'r');
  try {
    await place.sync();
  } finally {
    await place.close();
  }
}
