import { randomBytes } from 'node:crypto';

import { isTraceparent } from '@parley/protocol';

/** What a sender calls its envelope, and all that belongs to it. */
export interface SenderNames {
  request_id?: string;
  correlation_id?: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The names that an envelope bears, if they are such: they come back with the answer, also with a refusal. */
export function namesIn({ request_id, correlation_id }: Record<string, unknown>): SenderNames {
  return {
    ...(isUuid(request_id) ? { request_id } : {}),
    ...(isUuid(correlation_id) ? { correlation_id } : {}),
  };
}

function isUuid(said: unknown): said is string {
  return typeof said === 'string' && UUID.test(said);
}

/** The trace that a caller names, if it is one; else a new one. What is no trace never comes near a header. */
export function traceOf(said: unknown): string {
  if (isTraceparent(said)) return said;
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
}
