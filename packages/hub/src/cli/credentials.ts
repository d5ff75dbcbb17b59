import { readFileSync, statSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';

/** The token in a file that nobody else can read. */
export function readTokenFile(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new ParleyError('NOT_FOUND', `the token file ${path} is not there`);
  if (stat.isFile() && (stat.mode & 0o077) !== 0)
    throw new ParleyError('UNAUTHORIZED', `others can read ${path}; close it with: chmod 600 ${path}`);
  return readFileSync(path, 'utf8').trim();
}
