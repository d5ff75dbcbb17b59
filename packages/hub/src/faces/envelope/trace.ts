import { randomBytes } from 'node:crypto';

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace that a caller names, if it is one; else a new one. What is no trace never comes near a header. */
export function traceOf(said: unknown): string {
  if (typeof said === 'string' && TRACEPARENT.test(said)) return said;
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
}
