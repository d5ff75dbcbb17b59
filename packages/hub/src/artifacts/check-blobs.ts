import { createHash, type Hash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, readSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

import type { ArtifactRecord } from '@parley/core';
import { makeFolderSync, syncFolderSync, writeNewSync } from '@parley/files';

import { artifactFolder, blobPath } from './artifact-folder.ts';
import { BlobFault, openBlobFile } from './blob-file.ts';

const PIECE = 1_048_576;

/** Reads the bytes of every artifact and names those that are missing, damaged, behind a link or open to others. */
export function checkBlobs(
  data: string,
  kept: readonly ArtifactRecord[],
): { artifacts: number; bytes: number; wrong: string[] } {
  const sizes = sizesOf(kept);
  const wrong: string[] = [];
  for (const [sha256, bytes] of sizes) {
    const fault = faultOf(data, sha256, (file) => {
      const { size, mode } = fstatSync(file);
      if (size !== bytes || hashOf(file) !== sha256) return 'is damaged';
      return (mode & 0o077) === 0 ? undefined : 'can be read by others';
    });
    if (fault !== undefined) wrong.push(`${sha256} ${fault}`);
  }
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return { artifacts: sizes.size, bytes, wrong };
}

/** Copies the bytes of these artifacts from one folder into another, each checked and synced; what is there stays. */
export function copyBlobs(from: string, to: string, kept: readonly ArtifactRecord[]): string[] {
  const wrong: string[] = [];
  const folders = new Set<string>();
  for (const [sha256, bytes] of sizesOf(kept)) {
    const target = blobPath(to, sha256);
    if (existsSync(target)) {
      if (faultOf(to, sha256, (file) => (hashOf(file) === sha256 ? undefined : 'is damaged')) === undefined)
        continue;
      rmSync(target);
    }
    makeFolderSync(dirname(target));
    folders.add(dirname(target));
    const fault = faultOf(from, sha256, (file) =>
      fstatSync(file).size === bytes && hashOf(file, target) === sha256 ? undefined : 'is damaged',
    );
    if (fault !== undefined) wrong.push(`${sha256} ${fault}`);
  }
  for (const folder of folders) syncFolderSync(folder);
  if (folders.size > 0) syncFolderSync(artifactFolder(to));
  return wrong;
}

/** What is wrong with the bytes of a hash, as far as opening them or a look into them tells. */
function faultOf(
  data: string,
  sha256: string,
  look: (file: number) => string | undefined,
): string | undefined {
  let file: number;
  try {
    file = openBlobFile(data, sha256);
  } catch (error) {
    if (error instanceof BlobFault) return `is ${error.fault}`;
    throw error;
  }
  try {
    return look(file);
  } finally {
    closeSync(file);
  }
}

/** The hash of a file, copied on the way where a target is named. */
function hashOf(file: number, target?: string): string {
  const sum = createHash('sha256');
  const pieces = piecesOf(file, sum);
  if (target !== undefined) writeNewSync(target, pieces);
  else while (pieces.next().done !== true);
  return sum.digest('hex');
}

/** The bytes of a file in turn, summed up on the way; one piece is good until the next is asked for. */
function* piecesOf(file: number, sum: Hash): Generator<Buffer> {
  const piece = Buffer.alloc(PIECE);
  for (let at = 0, size; (size = readSync(file, piece, 0, PIECE, at)) > 0; at += size) {
    sum.update(piece.subarray(0, size));
    yield piece.subarray(0, size);
  }
}

/** Each blob once, with its size. */
function sizesOf(kept: readonly ArtifactRecord[]): Map<string, number> {
  return new Map(kept.map(({ sha256, bytes }) => [sha256, bytes]));
}
