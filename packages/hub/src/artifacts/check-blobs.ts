import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

import { listKeptArtifacts } from '@parley/store-sqlite';

import { syncFolder } from '../data-folder.ts';
import { blobPath } from './local-blobs.ts';
import { artifactFolder } from './stage.ts';

const PIECE = 1_048_576;

/** Reads the bytes of every artifact and names those that are missing, damaged or open to others. */
export function checkBlobs(data: string): { artifacts: number; bytes: number; wrong: string[] } {
  const sizes = sizesOf(data);
  const wrong: string[] = [];
  for (const sha256 of sizes.keys()) {
    const stat = lstatSync(blobPath(data, sha256), { throwIfNoEntry: false });
    if (stat?.isFile() !== true) wrong.push(`${sha256} is missing`);
    else if (hashOf(blobPath(data, sha256)) !== sha256) wrong.push(`${sha256} is damaged`);
    else if ((stat.mode & 0o077) !== 0) wrong.push(`${sha256} can be read by others`);
  }
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return { artifacts: sizes.size, bytes, wrong };
}

/** Copies the bytes of every artifact of a record into the folder of that record, each checked and synced. */
export function copyBlobs(from: string, to: string): string[] {
  const wrong: string[] = [];
  const folders = new Set<string>();
  for (const sha256 of sizesOf(to).keys()) {
    const target = blobPath(to, sha256);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    folders.add(dirname(target));
    const source = lstatSync(blobPath(from, sha256), { throwIfNoEntry: false });
    if (source?.isFile() !== true) wrong.push(`${sha256} is missing`);
    else if (hashOf(blobPath(from, sha256), target) !== sha256) wrong.push(`${sha256} is damaged`);
  }
  for (const folder of folders) syncFolder(folder);
  if (folders.size > 0) syncFolder(artifactFolder(to));
  return wrong;
}

/** Each blob once, with its size. */
function sizesOf(data: string): Map<string, number> {
  return new Map(listKeptArtifacts(data).map(({ sha256, bytes }) => [sha256, bytes]));
}

/** The hash of a file, copied on the way where a target is named. */
function hashOf(path: string, target?: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const copy = target === undefined ? undefined : openSync(target, 'wx', 0o600);
  const sum = createHash('sha256');
  const piece = Buffer.alloc(PIECE);
  try {
    for (let size = readSync(file, piece); size > 0; size = readSync(file, piece)) {
      sum.update(piece.subarray(0, size));
      if (copy !== undefined) writeAll(copy, piece.subarray(0, size));
    }
    if (copy !== undefined) fsyncSync(copy);
    return sum.digest('hex');
  } finally {
    closeSync(file);
    if (copy !== undefined) closeSync(copy);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}
