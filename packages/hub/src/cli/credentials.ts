import { readFileSync, statSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';

/** Refuses an address to which a token would travel in the clear. */
export function checkAddress(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(parsed?.hostname ?? '');
  if (parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && loopback)) return;
  throw new ParleyError(
    'VALIDATION_ERROR',
    `${url} is no address for a token to go to: use https://, or http:// on this machine`,
  );
}

/** The token in a file that nobody else can read. */
export function readTokenFile(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new ParleyError('NOT_FOUND', `the token file ${path} is not there`);
  if (stat.isFile() && (stat.mode & 0o077) !== 0)
    throw new ParleyError('UNAUTHORIZED', `others can read ${path}; close it with: chmod 600 ${path}`);
  return readFileSync(path, 'utf8').trim();
}
