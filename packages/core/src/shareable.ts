import type { RecordKind } from './records.ts';

type Fields = Record<string, unknown>;

/** What each kind of record keeps secret, and what stands in its place for those who may not know it. */
const HIDDEN: { [K in RecordKind]?: (record: Fields) => Fields } = {
  channel({ secret: _secret, target, ...channel }) {
    const { url } = target as { url: string };
    return { ...channel, host: new URL(url).host };
  },
  device: ({ secret_hash: _hash, ...device }) => device,
};

/** A record as it may leave the hub: without what would let its reader speak for the hub or for a device. */
export function shareable(kind: string, json: string): string {
  const hide = Object.hasOwn(HIDDEN, kind) ? HIDDEN[kind as RecordKind] : undefined;
  if (hide === undefined) return json;
  try {
    return JSON.stringify(hide(JSON.parse(json) as Fields));
  } catch {
    // Of what is damaged nobody knows where its secrets stand.
    return 'null';
  }
}
