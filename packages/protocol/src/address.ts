import { ParleyError } from './errors.ts';

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
