import type { IncomingMessage } from 'node:http';

/** True for a page that a person opened: from the hub's own pages, from a bookmark, a terminal or the address bar. */
export function isOpened(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers['sec-fetch-site'] === 'none') return headers['sec-fetch-mode'] === 'navigate';
  return isSameOrigin(request);
}

/**
 * True for what the hub's own page sent. A cookie travels also with requests of other pages of the same host, such as
 * one on another port; the browser itself says where a request comes from, and no page can change that.
 */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  const { origin, referer, host } = headers;
  const site = headers['sec-fetch-site'];
  const isOurs = (url: string): boolean => URL.canParse(url) && new URL(url).host === host?.toLowerCase();
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin !== undefined && !isOurs(origin)) return false;
  if (site !== undefined || origin !== undefined) return true;
  // An engine that says neither, as Safari before 16.4 where it only reads: a page can leave its address out, not forge it.
  return referer !== undefined && isOurs(referer);
}
