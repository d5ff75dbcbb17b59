import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolderSync } from '@parley/files';
import { NAME_PATTERN, ParleyError } from '@parley/protocol';
import { lockFile } from '@parley/store-sqlite';

import type { Config } from '../../config/schema.ts';

/** How many programs of one name may run at once before the last of them share it. */
const MOST = 99;

type Place = Pick<Config, 'data' | 'workspace'>;

/** A name for one more program of a folder: its own, or where another runs under it the next with a number. */
export function freeName(place: Place, name: string): string {
  for (let count = 1; count <= MOST; count++) {
    const numbered = count === 1 ? name : `${name}-${count}`;
    if (claimName(place, numbered)) return numbered;
  }
  return name;
}

/** Keeps a name for this process until it ends, however it ends; false while another has it. */
export function claimName({ data, workspace }: Place, name: string): boolean {
  // Where nothing is kept there is no hub, and nobody to take two for one.
  if (!existsSync(data) || !NAME_PATTERN.test(name)) return true;
  const folder = join(data, 'running', workspace);
  try {
    makeFolderSync(folder);
    const lock = lockFile(join(folder, `${name}.lock`), 0);
    // A lock that nobody holds on to is let go of as soon as memory is tidied.
    process.once('exit', () => lock.release());
    return true;
  } catch (error) {
    // A folder that cannot be written to keeps nobody from working.
    return !(error instanceof ParleyError && error.code === 'CONFLICT');
  }
}
