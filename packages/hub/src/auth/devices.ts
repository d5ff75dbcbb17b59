import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import {
  type Authority,
  type Chance,
  type Clock,
  commandHead,
  type Grant,
  type Granted,
  type Invitation,
  type DeviceRecord,
  type Log,
  type Store,
  whySignedOut,
  withElders,
} from '@parley/core';
import { type Caller, type Claims, HUB_NAME, type Role } from '@parley/protocol';

import { HttpRefusal } from '../exchange.ts';
import { DEVICE_LIFE_MS, readDeviceCookie } from './device-cookie.ts';
import { isSameOrigin } from './same-origin.ts';
import { TokenRefused } from './token-refused.ts';

/** For whom a device is let in; a person whom no role is given steers. */
type Admission = Pick<Invitation, 'agent_id' | 'workspace_id' | 'name' | 'read_only' | 'grant'> & {
  role?: Role;
};

/** The devices that are signed in: who they speak for, and for how long. */
export interface Devices {
  /**
   * Lets a device in, unless the right of the one who invited it has ended meanwhile; the secret goes into its cookie
   * and is kept nowhere.
   */
  admit(admission: Admission, name: string): Promise<{ device: DeviceRecord; secret: string } | undefined>;
  /** Who sends a request, by the cookie of its device; undefined when it brings none. */
  identify(
    request: IncomingMessage,
    isOurs?: (request: IncomingMessage) => boolean,
  ): Promise<Claims> | undefined;
  /** Throws when a device was revoked, was away too long, or has lost the right by which it was let in. */
  recheck(claims: Claims): void;
  /** What the right of those rests on whom a device lets in; undefined for claims that came from no device. */
  grantOf(claims: Caller): Grant | undefined;
  find(deviceId: string): Promise<DeviceRecord | undefined>;
  /** Ends a device whose place another has taken, and nothing that hangs on it. */
  leave(claims: Claims): Promise<void>;
  /** The claims of a device that another node has let in. */
  adopt(deviceId: string): Promise<Claims>;
}

interface Held extends Granted<DeviceRecord> {
  claims: Claims;
  /** Monotonic moment of the last look into the store. */
  looked: number;
}

/** How long a look into the store holds for an open stream; each request has its own. */
const LOOK_AGAIN_MS = 1_000;

/** How often the use of a device is put on record. */
const TOUCH_MS = 600_000;

const MAX_HELD = 1_000;

export interface DevicesOptions {
  store: Store;
  log: Log;
  clock: Clock;
  chance: Chance;
  authority: Pick<Authority, 'ended' | 'fresh'>;
  onFault: (error: unknown) => void;
}

/** Keeps devices as records beside the log. */
export function createDevices(options: DevicesOptions): Devices {
  const { store, log, clock, chance, authority, onFault } = options;
  const heldById = new Map<string, Held>();
  const grantByClaims = new WeakMap<Caller, Grant>();

  async function look(deviceId: string): Promise<Held | undefined> {
    const query = { kind: 'device', workspace_id: undefined, prefix: deviceId, limit: 1 } as const;
    const [device] = await store.records(query);
    if (device?.device_id !== deviceId) return undefined;
    const known = heldById.get(deviceId);
    const same = known?.value.expires_at === device.expires_at;
    const [granted = { value: device, elders: [] }] = await withElders(options, [device]);
    const held = { ...granted, claims: same ? known.claims : toClaims(device), looked: clock.monotonic() };
    const { grant } = device;
    grantByClaims.set(held.claims, { ...grant, devices: [...(grant?.devices ?? []), deviceId] });
    if (heldById.size >= MAX_HELD) heldById.delete(heldById.keys().next().value ?? '');
    heldById.set(deviceId, held);
    return held;
  }

  function check(held: Held): void {
    const why = whySignedOut(held, authority, clock);
    if (why !== undefined) throw new TokenRefused(why);
  }

  async function verify(cookie: string): Promise<Claims> {
    const [deviceId = '', secret = ''] = cookie.split('.');
    const held = /^[a-z0-9-]{3,128}$/.test(deviceId) ? await look(deviceId) : undefined;
    if (held === undefined || !isSecret(held.value, secret)) throw new TokenRefused('no such device');
    check(held);
    touch(held.value);
    return held.claims;
  }

  const headOf = ({ agent_id, workspace_id, role, device_id }: DeviceRecord) =>
    commandHead(options, { agent_id, workspace_id, role, session_id: device_id });

  function touch(device: DeviceRecord): void {
    const now = clock.now();
    if (now - Date.parse(device.last_seen_at) < TOUCH_MS) return;
    const expires_at = lifeOf(device.grant, now);
    device.last_seen_at = new Date(now).toISOString();
    const { device_id } = device;
    log.append({ type: 'touch_device', ...headOf(device), input: { device_id, expires_at } }).catch(onFault);
  }

  return {
    async admit({ agent_id, workspace_id, role = 'operator', read_only, grant, name: wanted }, name) {
      const secret = Buffer.from(chance.bytes(32)).toString('base64url');
      const now = new Date(clock.now()).toISOString();
      const device: DeviceRecord = {
        device_id: `${slug(wanted ?? name)}-${Buffer.from(chance.bytes(4)).toString('hex')}`,
        name: wanted ?? name,
        agent_id,
        workspace_id,
        role,
        read_only,
        created_at: now,
        last_seen_at: now,
        expires_at: lifeOf(grant, clock.now()),
        secret_hash: hashOf(secret),
        grant,
      };
      const [granted = { value: device, elders: [] }] = await withElders(options, [device]);
      if (whySignedOut(granted, authority, clock) !== undefined) return undefined;
      await log.append({ type: 'add_device', ...headOf(device), input: { device } });
      return { device, secret: `${device.device_id}.${secret}` };
    },
    identify(request, isOurs = isSameOrigin) {
      const cookie = readDeviceCookie(request);
      if (cookie === undefined) return undefined;
      if (!isOurs(request))
        throw new HttpRefusal(403, 'FORBIDDEN', 'the cookie of a device counts only for the hub’s own pages');
      return verify(cookie);
    },
    recheck({ session_id }) {
      const held = heldById.get(session_id);
      if (held === undefined) throw new TokenRefused('no such device');
      check(held);
      if (clock.monotonic() - held.looked >= LOOK_AGAIN_MS) look(session_id).catch(onFault);
    },
    grantOf: (claims) => grantByClaims.get(claims),
    async adopt(deviceId) {
      const held = await look(deviceId);
      if (held === undefined) throw new TokenRefused('no such device');
      check(held);
      return held.claims;
    },
    find: async (deviceId) => (await look(deviceId))?.value,
    async leave({ session_id: device_id }) {
      const held = await look(device_id);
      if (held === undefined) return;
      const expires_at = new Date(clock.now()).toISOString();
      await log.append({ type: 'touch_device', ...headOf(held.value), input: { device_id, expires_at } });
      await look(device_id);
    },
  };
}

function toClaims({
  agent_id,
  workspace_id,
  role,
  device_id,
  read_only,
  created_at,
  expires_at,
}: DeviceRecord): Claims {
  const seconds = (moment: string): number => Math.floor(Date.parse(moment) / 1_000);
  return {
    agent_id,
    workspace_id,
    role,
    session_id: device_id,
    iat: seconds(created_at),
    exp: seconds(expires_at),
    jti: `${HUB_NAME}:${device_id}`,
    ...(read_only ? { read_only } : {}),
  };
}

/** When a device that is used now ends by itself: long after, but not after the issuer must be asked again. */
function lifeOf(grant: Grant | undefined, now: number): string {
  const unused = new Date(now + DEVICE_LIFE_MS).toISOString();
  const until = grant?.person?.until ?? unused;
  return until < unused ? until : unused;
}

function isSecret({ secret_hash }: DeviceRecord, secret: string): boolean {
  return timingSafeEqual(Buffer.from(secret_hash), Buffer.from(hashOf(secret)));
}

function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** A device's name as the beginning of its id: "Kim's iPad" becomes kim-s-ipad. */
function slug(name: string): string {
  const text = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40);
  return text === '' ? 'device' : text;
}
