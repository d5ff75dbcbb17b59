import { createHash } from 'node:crypto';
import { type BigIntStats, closeSync, fstatSync, read } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

import type { StoredBytes } from '@parley/core';
import { syncFolder } from '@parley/files';
import { ParleyError } from '@parley/protocol';

import { blobPath, makeOwnFolder } from './artifact-folder.ts';
import { BlobFault, openBlobFile } from './blob-file.ts';
import type { Blobs, Span } from './blobs.ts';

/** Blobs as files of the data folder, named by their hash. */
export interface LocalBlobs extends Blobs {
  /** The bytes, or a part of them; the first comes when size and hash of the whole were found right. */
  pieces(kept: StoredBytes, span?: Span): AsyncIterable<Uint8Array>;
}

/** Whether a file had its hash, as it stood when it was read. */
interface Finding {
  stamp: string;
  at: number;
  isWhole: Promise<boolean>;
}

const ALL: Span = { first: 0, last: Infinity };

const PIECE = 65_536;

const readSome = promisify(read);

const MOST_FINDINGS = 10_000;

/** For how long a finding counts: what decays beneath the file system leaves no mark on the file. */
const GOOD_MS = 600_000;

/** A file that was changed so lately may be changed again without another mark, as clocks tick. */
const SETTLED_MS = 2_000;

/**
 * Opens the blobs of a data folder; a file that is not what its hash says is an error, never an answer. Of several
 * nodes each has a folder of its own, unless they share one: what is not here may be with another.
 */
export function openLocalBlobs(data: string, now: () => number, isOneOfSeveral = false): LocalBlobs {
  const findingByHash = new Map<string, Finding>();

  function open(sha256: string): number {
    try {
      return openBlobFile(data, sha256);
    } catch (error) {
      if (!isOneOfSeveral || !(error instanceof BlobFault) || error.fault !== 'missing') throw error;
      throw new ParleyError(
        'UNAVAILABLE',
        `the bytes of artifact ${sha256} are not with this node, but may be with another; give all nodes one bucket (artifacts.bucket) or one shared folder`,
      );
    }
  }

  /**
   * Reads a file once for all who want parts of it. That is sound because nobody can write to a file, or put another
   * in its place, and keep its number, its size and its times: the time of the last change is the kernel's alone.
   */
  function isWhole(file: number, sha256: string): Promise<boolean> {
    const stat = fstatSync(file, { bigint: true });
    const stamp = stampOf(stat);
    const at = performance.now();
    const known = findingByHash.get(sha256);
    if (known?.stamp === stamp && at - known.at < GOOD_MS) return known.isWhole;
    const found = hashOf(file).then((hash) => hash === sha256);
    if (now() - Number(stat.ctimeMs) < SETTLED_MS) return found;
    if (findingByHash.size >= MOST_FINDINGS) findingByHash.clear();
    findingByHash.set(sha256, { stamp, at, isWhole: found });
    found.catch(() => findingByHash.delete(sha256));
    return found;
  }

  return {
    async keep(_workspaceId, { path, sha256 }) {
      const target = blobPath(data, sha256);
      const folder = dirname(target);
      makeOwnFolder(data, folder);
      // Over a copy that is there already: should that one be damaged, it is whole again.
      await rename(path, target);
      await syncFolder(folder);
    },
    async *read(_workspaceId, sha256) {
      const file = open(sha256);
      try {
        yield* checked(piecesOf(file), sha256);
      } finally {
        closeSync(file);
      }
    },
    async *pieces({ sha256, bytes }, span) {
      const file = open(sha256);
      const check = async (): Promise<void> => {
        if (fstatSync(file).size !== bytes || !(await isWhole(file, sha256)))
          throw new BlobFault(sha256, 'damaged');
      };
      try {
        await check();
        // Not a byte beyond: whoever adds to the file now must not break the framing.
        if (span === undefined) yield* checked(piecesOf(file, { first: 0, last: bytes - 1 }), sha256);
        else yield* holdingLast(piecesOf(file, span), check);
      } finally {
        closeSync(file);
      }
    },
  };
}

/** Bytes as they come, but for the last piece, which goes out only when all of them have the hash. */
export async function* checked(
  pieces: AsyncIterable<Uint8Array>,
  sha256: string,
): AsyncGenerator<Uint8Array> {
  const sum = createHash('sha256');
  const summed = (async function* () {
    for await (const piece of pieces) {
      sum.update(piece);
      yield piece;
    }
  })();
  yield* holdingLast(summed, async () => {
    if (sum.digest('hex') !== sha256) throw new BlobFault(sha256, 'damaged');
  });
}

/** Who has all but the last piece knows that some is lacking: the last one waits for the check. */
async function* holdingLast(
  pieces: AsyncIterable<Uint8Array>,
  check: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | undefined;
  for await (const piece of pieces) {
    if (held !== undefined) yield held;
    held = piece;
  }
  await check();
  if (held !== undefined) yield held;
}

async function* piecesOf(file: number, { first, last }: Span = ALL): AsyncGenerator<Uint8Array> {
  for (let at = first; at <= last;) {
    const wanted = Math.min(PIECE, last - at + 1);
    const { bytesRead, buffer } = await readSome(file, Buffer.allocUnsafe(wanted), 0, wanted, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function hashOf(file: number): Promise<string> {
  const sum = createHash('sha256');
  for await (const piece of piecesOf(file)) sum.update(piece);
  return sum.digest('hex');
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
