import { open, mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Puts a file in place so that a reader, and a crash at any moment, sees the old one or the new one and nothing else. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
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
