import { closeSync, constants, fstatSync, openSync } from 'node:fs';

import { ParleyError, errorCode } from '@parley/protocol';

import { blobPath, isBeneath } from './artifact-folder.ts';

/** Why the bytes of a hash cannot be had. */
type Fault = 'missing' | 'damaged' | 'behind a link';

/** What stands at the place of a hash is not what the hash stands for. */
export class BlobFault extends ParleyError {
  readonly fault: Fault;

  constructor(sha256: string, fault: Fault) {
    super('INTERNAL', `the bytes of artifact ${sha256} are ${fault}; run \`parley doctor\``);
    this.fault = fault;
  }
}

/**
 * Opens the file of a hash: a plain one, at its own place, to which no link leads. Whoever reads it holds what comes
 * from this descriptor against the hash, so that a path which changes meanwhile cannot bring other bytes.
 */
export function openBlobFile(data: string, sha256: string): number {
  const path = blobPath(data, sha256);
  const file = openPlain(path, sha256);
  try {
    if (!fstatSync(file).isFile()) throw new BlobFault(sha256, 'damaged');
    if (!isBeneath(data, path)) throw new BlobFault(sha256, 'behind a link');
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function openPlain(path: string, sha256: string): number {
  try {
    // Where somebody has put a pipe, nobody waits for its writer.
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new BlobFault(sha256, 'missing');
    if (code === 'ELOOP') throw new BlobFault(sha256, 'behind a link');
    throw error;
  }
}
