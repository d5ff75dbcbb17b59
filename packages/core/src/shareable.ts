import { fieldsOf } from '@parley/protocol';
import type { RecordKind } from './records.ts';

type Fields = Record<string, unknown>;

/** What each kind of record keeps secret, and what stands in its place for those who may not know it. */
const HIDDEN: Partial<Record<string, (record: Fields) => Fields>> = {
  channel({ secret: _secret, target, ...channel }) {
    return { ...channel, host: new URL(String(fieldsOf(target)['url'])).host };
  },
  device: ({ secret_hash: _hash, ...device }) => device,
  // What is good once and soon over; a code could be guessed from its hash.
  passkey_challenge: () => ({}),
} satisfies { [K in RecordKind]?: (record: Fields) => Fields };

/** Whether something of such a record stays behind when it leaves the hub. */
export function hidesSecrets(kind: string): boolean {
  return Object.hasOwn(HIDDEN, kind);
}

/** A record as it may leave the hub: without what would let its reader speak for the hub or for a device. */
export function shareable(kind: string, json: string): string {
  const hide = Object.hasOwn(HIDDEN, kind) ? HIDDEN[kind] : undefined;
  if (hide === undefined) return json;
  try {
    return JSON.stringify(hide(fieldsOf(JSON.parse(json))));
  } catch {
    // Of what is damaged nobody knows where its secrets stand.
    return 'null';
  }
}
