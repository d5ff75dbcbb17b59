import { ParleyError } from '@parley/protocol';

import type { Idempotency } from './commands.ts';

/** What a store keeps of a keyed command. */
export interface IdempotencyRecord {
  fingerprint: string;
  result: Record<string, unknown>;
  at: number;
}

/** The first answer again when the key binds; undefined when it is new or its window has passed. */
export function replay(
  record: IdempotencyRecord | undefined,
  wanted: Idempotency,
  fingerprint: string,
): Record<string, unknown> | undefined {
  if (record === undefined || record.at <= wanted.fresh_after) return undefined;
  if (record.fingerprint === fingerprint) return record.result;
  throw new ParleyError('IDEMPOTENCY_CONFLICT', 'this idempotency_key was used with another payload', {
    field: 'idempotency_key',
  });
}
