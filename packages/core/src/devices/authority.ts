import type { Caller } from '@parley/protocol';

import type { Clock } from '../clock.ts';
import type { DeviceRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Grant } from './grant.ts';

/** Knows by what right callers are here, and whether that right was taken back. */
export interface Authority {
  /** What a caller's right rests on; undefined for one who came by no token. */
  of(caller: Caller): Grant | undefined;
  /** True once the token was revoked, its key retired, or the person signed out; one that merely ran out was good. */
  ended(grant: Grant): boolean;
  /** Settles once `ended` heeds what of these was taken back before this call; undefined where it always does. */
  fresh?(grants: readonly Grant[]): Promise<unknown> | undefined;
}

/** Something that a grant lasts in, with the devices that stand between. */
export interface Granted<T> {
  value: T;
  elders: readonly DeviceRecord[];
}

/** Values, each with the devices of its grant; from here on it is known what was taken back before, at whichever node. */
export async function withElders<T extends { grant?: Grant }>(
  { store, authority }: { store: Pick<Store, 'records'>; authority: Pick<Authority, 'fresh'> },
  values: readonly T[],
): Promise<Granted<T>[]> {
  await authority.fresh?.(values.flatMap(({ grant }) => grant ?? []));
  const keys = [...new Set(values.flatMap(({ grant }) => grant?.devices ?? []))];
  const query = { kind: 'device', workspace_id: undefined, keys, limit: keys.length } as const;
  const found = keys.length === 0 ? [] : await store.records(query);
  const byId = new Map(found.map((one) => [one.device_id, one]));
  return values.map((value) => ({
    value,
    elders: (value.grant?.devices ?? []).flatMap((id) => byId.get(id) ?? []),
  }));
}

/** Why what was granted is so no more; undefined while it is. */
export function whyTakenBack(
  { value: { grant }, elders }: Granted<{ grant?: Grant }>,
  authority: Pick<Authority, 'ended'>,
): string | undefined {
  if (grant !== undefined && authority.ended(grant))
    return 'the token behind it was revoked, its key retired, or the person signed out';
  // A device that signs itself out leaves behind what it granted.
  if (elders.some(({ revoked_at, left }) => revoked_at !== undefined && left !== true))
    return 'the device behind it was revoked';
  return undefined;
}

/** Why a device is signed out; undefined while it is not. */
export function whySignedOut(
  granted: Granted<DeviceRecord>,
  authority: Pick<Authority, 'ended'>,
  clock: Pick<Clock, 'now'>,
): string | undefined {
  const { revoked_at, expires_at } = granted.value;
  if (revoked_at !== undefined) return 'the device was revoked';
  if (Date.parse(expires_at) <= clock.now()) return 'the device was away too long';
  return whyTakenBack(granted, authority);
}
