import { createHash, randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { BEGINNING_BYTES, checkBeginning, type StoredBytes } from '@parley/core';
import { inWords, writeNew } from '@parley/files';
import { ParleyError } from '@parley/protocol';

import { artifactFolder, makeOwnFolder } from './artifact-folder.ts';

/** Bytes that are all there, checked and synced, in a file that nobody else knows of yet. */
export interface Staged extends StoredBytes {
  path: string;
}

interface Announced {
  mime_type: string;
  sha256: string | undefined;
}

/** Takes what arrives into temporary files; what a crash left of earlier ones is removed. */
export function openStage(data: string, maxBytes: number) {
  const folder = join(artifactFolder(data), 'incoming');
  if (existsSync(artifactFolder(data))) makeOwnFolder(data, artifactFolder(data));
  rmSync(folder, { recursive: true, force: true });

  /** Hands staged bytes on; whatever happens, no temporary file stays. */
  return async function stage<T>(
    body: AsyncIterable<Uint8Array>,
    { mime_type, sha256: announced }: Announced,
    take: (staged: Staged) => Promise<T>,
  ): Promise<T> {
    // Made with the first artifact: a hub without any needs none.
    makeOwnFolder(data, folder);
    const path = join(folder, randomBytes(16).toString('hex'));
    const sum = createHash('sha256');
    let bytes = 0;
    const counted = (async function* () {
      let beginning = Buffer.alloc(0);
      for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        if (beginning.length < BEGINNING_BYTES) {
          beginning = Buffer.concat([beginning, chunk.subarray(0, BEGINNING_BYTES - beginning.length)]);
          if (beginning.length === BEGINNING_BYTES) checkBeginning(mime_type, beginning);
        }
        sum.update(chunk);
        yield chunk;
      }
      checkBeginning(mime_type, beginning);
    })();
    try {
      await writeNew(path, counted);
      const sha256 = sum.digest('hex');
      if (announced !== undefined && announced !== sha256)
        throw new ParleyError('VALIDATION_ERROR', `sha256: the bytes that arrived have ${sha256}`, {
          field: 'sha256',
        });
      return await take({ sha256, bytes, path });
    } catch (error) {
      throw inWords(error);
    } finally {
      await rm(path, { force: true });
    }
  };
}

/** The refusal of more bytes than are taken. */
export function tooLarge(maxBytes: number): ParleyError {
  return new ParleyError('VALIDATION_ERROR', `the artifact is larger than ${maxBytes} bytes`, {
    field: 'content',
    max_bytes: maxBytes,
  });
}
