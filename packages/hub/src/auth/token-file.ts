import { ParleyError } from '@parley/protocol';

import { readSecretFile } from '../secret-file.ts';

/** The token in a file that nobody else can read. */
export function readTokenFile(path: string): string {
  const file = readSecretFile(path);
  if (file === undefined) throw new ParleyError('NOT_FOUND', `the token file ${path} is not there`);
  if (file.openTo !== 'nobody')
    throw new ParleyError('UNAUTHORIZED', `others can read ${path}; close it with: chmod 600 ${path}`);
  return file.text;
}
