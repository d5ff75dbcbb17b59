import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Puts a file in place so that a reader, and a crash at any moment, sees the old one or the new one and nothing else. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  // One process at a time has the identity, so that what a killed one left here is written over.
  const temporary = `${path}.tmp`;
  try {
    const file = await openIn(folder, temporary);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const place = await open(folder, 'r');
  try {
    await place.sync();
  } finally {
    await place.close();
  }
}

/** The folder is there but for the first time. */
async function openIn(folder: string, path: string): Promise<FileHandle> {
  const opening = (): Promise<FileHandle> => open(path, 'w', 0o600);
  try {
    return await opening();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return opening();
  }
}
