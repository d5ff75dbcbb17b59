import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { BEGINNING_BYTES, checkBeginning, type KeptBytes } from '@parley/core';
import { ParleyError } from '@parley/protocol';

/** Where the artifacts of a data folder are. */
export function artifactFolder(data: string): string {
  return join(data, 'artifacts');
}

/** Bytes that are all there, checked and synced, in a file that nobody else knows of yet. */
export interface Staged extends KeptBytes {
  path: string;
}

interface Announced {
  mime_type: string;
  sha256: string | undefined;
}

/** Takes what arrives into temporary files; what a crash left of earlier ones is removed. */
export function openStage(data: string, maxBytes: number) {
  const folder = join(artifactFolder(data), 'incoming');
  checkFolder(artifactFolder(data));
  rmSync(folder, { recursive: true, force: true });

  async function fill(file: FileHandle, body: AsyncIterable<Uint8Array>, announced: Announced) {
    const sum = createHash('sha256');
    let bytes = 0;
    let beginning = Buffer.alloc(0);
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      if (beginning.length < BEGINNING_BYTES) {
        beginning = Buffer.concat([beginning, chunk.subarray(0, BEGINNING_BYTES - beginning.length)]);
        if (beginning.length === BEGINNING_BYTES) checkBeginning(announced.mime_type, beginning);
      }
      sum.update(chunk);
      await file.appendFile(chunk);
    }
    checkBeginning(announced.mime_type, beginning);
    const sha256 = sum.digest('hex');
    if (announced.sha256 !== undefined && announced.sha256 !== sha256)
      throw new ParleyError('VALIDATION_ERROR', `sha256: the bytes that arrived have ${sha256}`, {
        field: 'sha256',
      });
    await file.sync();
    return { sha256, bytes };
  }

  /** Hands staged bytes on; whatever happens, no temporary file stays. */
  return async function stage<T>(
    body: AsyncIterable<Uint8Array>,
    announced: Announced,
    take: (staged: Staged) => Promise<T>,
  ): Promise<T> {
    // Made with the first artifact: a hub without any needs none.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, randomBytes(16).toString('hex'));
    const file = await open(path, 'wx', 0o600);
    try {
      let kept: KeptBytes;
      try {
        kept = await fill(file, body, announced);
      } finally {
        await file.close();
      }
      return await take({ ...kept, path });
    } catch (error) {
      throw isFull(error) ? new ParleyError('UNAVAILABLE', 'the disk is full; nothing was kept') : error;
    } finally {
      await rm(path, { force: true });
    }
  };
}

/** Refuses a link that someone planted in place of the folder. */
function checkFolder(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isDirectory())
    throw new ParleyError('UNAVAILABLE', `${path} is not a folder of its own; move it away`);
}

/** The refusal of more bytes than are taken. */
export function tooLarge(maxBytes: number): ParleyError {
  return new ParleyError('VALIDATION_ERROR', `the artifact is larger than ${maxBytes} bytes`, {
    field: 'content',
    max_bytes: maxBytes,
  });
}

function isFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
