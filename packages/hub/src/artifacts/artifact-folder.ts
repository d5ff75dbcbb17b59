import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';

import { makeFolderSync } from '@parley/files';
import { ParleyError } from '@parley/protocol';

/** Where the artifacts of a data folder are. */
export function artifactFolder(data: string): string {
  return join(data, 'artifacts');
}

/** The file that holds the bytes of a hash. */
export function blobPath(data: string, sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error('no SHA-256');
  return join(artifactFolder(data), sha256.slice(0, 2), sha256);
}

/** Makes a folder of the data folder where there is none; a link in its place, which may lead anywhere, is refused. */
export function makeOwnFolder(data: string, folder: string): void {
  makeFolderSync(folder);
  if (!isBeneath(data, folder))
    throw new ParleyError('UNAVAILABLE', `${folder} is not a folder of its own; move it away`);
}

/** True where no link leads from the data folder to a path in it. */
export function isBeneath(data: string, path: string): boolean {
  return realpathSync.native(path) === join(realpathSync.native(data), relative(data, path));
}
