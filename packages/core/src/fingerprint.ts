import { hash } from 'node:crypto';

import { canonicalJson } from '@parley/protocol';

import type { Command } from './commands.ts';

/** Equal for equal payloads whatever their key order or number spelling; the store's thread makes it, not the gate. */
export function fingerprint({ input, idempotency }: Pick<Command, 'input' | 'idempotency'>): string {
  const payload = idempotency?.about === undefined ? input : [idempotency.about, input];
  return hash('sha256', canonicalJson(payload), 'base64url').slice(0, 22);
}
