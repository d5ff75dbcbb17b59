import { randomBytes } from 'node:crypto';

import { isTraceparent } from '@parley/protocol';

/** The trace that a caller names, if it is one; else a new one. What is no trace never comes near a header. */
export function traceOf(said: unknown): string {
  if (isTraceparent(said)) return said;
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
}
