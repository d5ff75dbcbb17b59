import { createHash } from 'node:crypto';
import { constants, createReadStream, type Stats } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { ParleyError } from '@parley/protocol';

import type { Blobs } from './blobs.ts';
import { artifactFolder } from './stage.ts';

/** The file that holds the bytes of a hash. */
export function blobPath(data: string, sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error('no SHA-256');
  return join(artifactFolder(data), sha256.slice(0, 2), sha256);
}

/** Blobs as files of the data folder, named by their hash; what is read is held against it. */
export function openLocalBlobs(data: string): Blobs {
  /** Files whose bytes were found to be right, as they stood then. */
  const sound = new Map<string, string>();

  return {
    async keep(_workspaceId, { path, sha256 }) {
      const target = blobPath(data, sha256);
      const folder = dirname(target);
      const made = await mkdir(folder, { recursive: true, mode: 0o700 });
      // Over a copy that is there already: should that one be damaged, it is whole again.
      await rename(path, target);
      await syncFolder(folder);
      if (made !== undefined) await syncFolder(dirname(folder));
    },
    async *read(_workspaceId, sha256, span) {
      const file = await openBlob(blobPath(data, sha256), sha256);
      try {
        if (span === undefined) {
          yield* checked(piecesOf(file), sha256);
          return;
        }
        const stamp = stampOf(await file.stat());
        // A part cannot be held against the hash: the whole is, once.
        if (sound.get(sha256) !== stamp) {
          const all = checked(piecesOf(file), sha256);
          while ((await all.next()).done !== true);
          if (sound.size >= MOST_REMEMBERED) sound.clear();
          sound.set(sha256, stamp);
        }
        yield* piecesOf(file, span.first, span.last);
      } finally {
        await file.close();
      }
    },
  };
}

const MOST_REMEMBERED = 10_000;

async function openBlob(path: string, sha256: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new ParleyError('INTERNAL', `the bytes of artifact ${sha256} are missing; run \`parley doctor\``);
  }
}

function piecesOf(file: FileHandle, start = 0, end = Infinity): AsyncIterable<Buffer> {
  // The path is not used: the file is open already.
  return createReadStream('', { fd: file, start, end, autoClose: false });
}

/** Bytes as they come, but for the last piece, which goes out only when all of them have the hash. */
export async function* checked(
  pieces: AsyncIterable<Uint8Array>,
  sha256: string,
): AsyncGenerator<Uint8Array> {
  const sum = createHash('sha256');
  let held: Uint8Array | undefined;
  for await (const piece of pieces) {
    sum.update(piece);
    if (held !== undefined) yield held;
    held = piece;
  }
  if (sum.digest('hex') !== sha256)
    throw new ParleyError('INTERNAL', `the bytes of artifact ${sha256} are damaged; run \`parley doctor\``);
  if (held !== undefined) yield held;
}

function stampOf({ ino, size, mtimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs}`;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
