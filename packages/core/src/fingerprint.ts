import { hash } from 'node:crypto';

import { canonicalJson } from '@parley/protocol';

/** Equal for equal payloads whatever their key order or number spelling; the store's thread makes it, not the gate. */
export function fingerprint(payload: unknown): string {
  return hash('sha256', canonicalJson(payload), 'base64url').slice(0, 22);
}
