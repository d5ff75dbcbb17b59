import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Makes the names in a folder last through a loss of power. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** As `syncFolder`, where nothing may be awaited. */
export function syncFolderSync(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Makes a private folder where there is none, with the names of all that was made on the way on disk. */
export function makeFolderSync(folder: string): void {
  const path = resolve(folder);
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let at = path; at.length >= first.length; at = dirname(at)) syncFolderSync(dirname(at));
}
