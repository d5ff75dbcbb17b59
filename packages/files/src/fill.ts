import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';

/** What a file is to hold: a text, or pieces in their turn. */
export type Content = string | Iterable<string | Uint8Array>;
export type LaterContent = Content | AsyncIterable<string | Uint8Array>;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
const NEW = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;

const PIECE = 1_048_576;

/** Makes a file of a content: every byte synced and read back, or there is no file. Gives its SHA-256. */
export async function fill(path: string, content: LaterContent, mode: number): Promise<string> {
  const file = await open(path, NEW, mode);
  try {
    const sum = createHash('sha256');
    for await (const piece of typeof content === 'string' ? [content] : content) {
      sum.update(piece);
      // It writes on where the disk took less than it was given.
      await file.appendFile(piece);
    }
    await file.sync();
    return same(sum, await hashOf(file));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** As `fill`, where nothing may be awaited. */
export function fillSync(path: string, content: Content, mode: number): string {
  const file = openSync(path, NEW, mode);
  try {
    const sum = createHash('sha256');
    for (const piece of typeof content === 'string' ? [content] : content) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      sum.update(bytes);
      // A disk that is nearly full takes less than it is given and says nothing; at the next write it says why.
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    }
    fsyncSync(file);
    return same(sum, hashOfSync(file));
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function same(written: Hash, read: Hash): string {
  const sha256 = written.digest('hex');
  if (sha256 !== read.digest('hex')) throw new Error('the disk does not give back what was written to it');
  return sha256;
}

async function hashOf(file: FileHandle): Promise<Hash> {
  const sum = createHash('sha256');
  const piece = Buffer.alloc(PIECE);
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(piece, 0, PIECE, at);
    if (bytesRead === 0) return sum;
    sum.update(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
}

function hashOfSync(file: number): Hash {
  const sum = createHash('sha256');
  const piece = Buffer.alloc(PIECE);
  for (let at = 0, size; (size = readSync(file, piece, 0, PIECE, at)) > 0; at += size)
    sum.update(piece.subarray(0, size));
  return sum;
}
