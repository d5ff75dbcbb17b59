import { closeSync, constants, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/** What a file is to hold: a text, or pieces in their turn. */
export type Content = string | Iterable<string | Uint8Array>;
export type LaterContent = Content | AsyncIterable<string | Uint8Array>;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
const NEW = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;

const PIECE = 1_048_576;

/** Makes a file of a content: every byte synced and read back, or there is no file. */
export async function fill(path: string, content: LaterContent, mode: number): Promise<void> {
  const file = await open(path, NEW, mode);
  try {
    let sum = 0;
    let size = 0;
    for await (const piece of typeof content === 'string' ? [content] : content) {
      sum = crc32(piece, sum);
      size += Buffer.byteLength(piece);
      // It writes on where the disk took less than it was given.
      await file.appendFile(piece);
    }
    await file.sync();
    compare(sum, await sumOf(file, size));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** As `fill`, where nothing may be awaited. */
export function fillSync(path: string, content: Content, mode: number): void {
  const file = openSync(path, NEW, mode);
  try {
    let sum = 0;
    let size = 0;
    for (const piece of typeof content === 'string' ? [content] : content) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      sum = crc32(bytes, sum);
      size += bytes.length;
      // A disk that is nearly full takes less than it is given and says nothing; at the next write it says why.
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    }
    fsyncSync(file);
    compare(sum, sumOfSync(file, size));
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function compare(written: number, read: number): void {
  if (written !== read) throw new Error('the disk does not give back what was written to it');
}

async function sumOf(file: FileHandle, size: number): Promise<number> {
  const piece = roomFor(size);
  let sum = 0;
  for (let at = 0, read = -1; at < size && read !== 0; at += read) {
    ({ bytesRead: read } = await file.read(piece, 0, piece.length, at));
    sum = crc32(piece.subarray(0, read), sum);
  }
  return sum;
}

function sumOfSync(file: number, size: number): number {
  const piece = roomFor(size);
  let sum = 0;
  for (let at = 0, read = -1; at < size && read !== 0; at += read) {
    read = readSync(file, piece, 0, piece.length, at);
    sum = crc32(piece.subarray(0, read), sum);
  }
  return sum;
}

/** Most files are small: a room of a piece for each would cost more than all else. */
function roomFor(size: number): Buffer {
  return Buffer.allocUnsafe(Math.min(PIECE, size));
}
