import { hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

import {
  createFeed,
  createLog,
  hubCaller,
  openMemoryStore,
  type DeviceRecord,
  type PersonGrant,
  type Store,
} from '@parley/core';
import { expect, test } from 'vitest';

import { openSampleDevices, SAMPLE_START, sampleRequest } from './sample-devices.ts';

const DAY = 86_400_000;
const REFUSED = (reason: string) => expect.objectContaining({ code: 'UNAUTHORIZED', reason }) as Error;
const AWAY = REFUSED('the device was away too long');
const NONE = REFUSED('no such device');

/** Sends a device away, as another node of the hub would. */
async function revoke(store: Store, { device_id, workspace_id }: DeviceRecord): Promise<void> {
  const caller = hubCaller(workspace_id);
  const input = { device_id };
  await createLog(store, createFeed()).append({
    type: 'revoke_device',
    caller,
    now: SAMPLE_START,
    salt: 0,
    input,
  });
}

test('a device that nobody uses for thirty days is signed out, and so is what it has open', async () => {
  const { devices, admit, identify, pass, faults } = openSampleDevices();
  const { secret } = await admit();
  pass(30 * DAY - 1);
  const claims = await identify(secret);
  expect(claims).toMatchObject({ agent_id: 'boss', workspace_id: 'w', role: 'operator' });
  // That very use is on record by now, and gives it thirty days more.
  await expect
    .poll(async () => (await devices.find(claims.session_id))?.last_seen_at)
    .toContain('2030-01-30');
  pass(30 * DAY - 1);
  devices.recheck(claims);
  pass(1);
  expect(() => devices.recheck(claims)).toThrow(AWAY);
  await expect(identify(secret)).rejects.toEqual(AWAY);
  expect(faults).toEqual([]);
});

test('a device that is used every week stays, and its end moves with its use', async () => {
  const { admit, identify, pass } = openSampleDevices();
  const { secret } = await admit();
  for (let week = 1; week <= 9; week++) {
    pass(7 * DAY);
    await expect(identify(secret)).resolves.toMatchObject({ agent_id: 'boss' });
  }
  pass(30 * DAY);
  await expect(identify(secret)).rejects.toEqual(AWAY);
});

test('a cookie says who its device speaks for, and what it may; its secret is kept nowhere', async () => {
  const { devices, admit, identify, store } = openSampleDevices();
  const { device, secret } = await admit({ read_only: true, role: 'worker' });
  const { device_id } = device;
  const claims = await identify(secret);
  expect(claims).toStrictEqual({
    agent_id: 'boss',
    workspace_id: 'w',
    role: 'worker',
    session_id: device_id,
    iat: SAMPLE_START / 1_000,
    exp: (SAMPLE_START + 30 * DAY) / 1_000,
    jti: `parley:${device_id}`,
    read_only: true,
  });
  // The same until its time is another: what is known of a caller hangs on its claims.
  expect(await identify(secret)).toBe(claims);
  expect(await devices.adopt(device_id)).toBe(claims);
  expect(await identify((await admit()).secret)).not.toHaveProperty('read_only');
  const word = secret.slice(device_id.length + 1);
  expect(word).toMatch(/^[\w-]{43}$/);
  const kept = await store.records({ kind: 'device', workspace_id: 'w', keys: [device_id], limit: 1 });
  expect(kept).toMatchObject([{ device_id, secret_hash: expect.stringMatching(/^[\w-]{43}$/) as string }]);
  expect(JSON.stringify(kept)).not.toContain(word);
});

test('only the whole cookie of a device counts', async () => {
  const { devices, admit, identify } = openSampleDevices();
  const [one, other] = [await admit(), await admit()];
  const { device_id } = one.device;
  const word = one.secret.slice(device_id.length + 1);
  for (const cookie of [
    '',
    '.',
    device_id,
    `${device_id}.`,
    `${device_id}.${word.slice(1)}`,
    `${other.device.device_id}.${word}`,
    `${device_id.slice(0, -1)}.${word}`,
    `tab.${word}`,
    `ta.${word}`,
    `${device_id.toUpperCase()}.${word}`,
    `${device_id} .${word}`,
    ` ${device_id}.${word}`,
  ])
    await expect(identify(cookie)).rejects.toEqual(NONE);
  expect(devices.identify(sampleRequest(undefined))).toBeUndefined();
});

test('what can be the id of no device is not looked for', async () => {
  const kept = openMemoryStore();
  const asked: unknown[] = [];
  const store: Store = { ...kept, records: (query) => (asked.push(query), kept.records(query)) };
  const { identify } = openSampleDevices({ store });
  for (const id of ['ab', 'a'.repeat(129), 'Tablet', 'tablet ', '%tablet'])
    await expect(identify(`${id}.word`)).rejects.toEqual(NONE);
  expect(asked).toEqual([]);
  for (const id of ['abc', 'a'.repeat(128)]) await expect(identify(`${id}.word`)).rejects.toEqual(NONE);
  expect(asked).toHaveLength(2);
});

test('a device of before, of which nobody kept by what right it came, goes on as its own', async () => {
  const { devices, admit, identify, store, pass } = openSampleDevices();
  const { grant: _grant, ...known } = (await admit()).device;
  const device = { ...known, device_id: 'old-1', secret_hash: hash('sha256', 'word', 'base64url') };
  await createLog(store, createFeed()).append({
    type: 'add_device',
    caller: hubCaller('w'),
    now: SAMPLE_START,
    salt: 0,
    input: { device },
  });
  pass(DAY);
  const claims = await identify('old-1.word');
  expect(devices.grantOf(claims)).toStrictEqual({ devices: ['old-1'] });
  const expires_at = new Date(SAMPLE_START + 31 * DAY).toISOString();
  await expect.poll(async () => (await devices.find('old-1'))?.expires_at).toBe(expires_at);
});

test('a cookie counts for the pages of the hub, or for those that the caller of this says', async () => {
  const { devices, admit } = openSampleDevices();
  const foreign = sampleRequest((await admit()).secret, 'same-site');
  expect(() => devices.identify(foreign)).toThrow(
    expect.objectContaining({ status: 403, code: 'FORBIDDEN' }) as Error,
  );
  await expect(devices.identify(foreign, () => true)).resolves.toMatchObject({ agent_id: 'boss' });
});

test.each([
  ['Kim’s iPad', 'kim-s-ipad'],
  ['--a__b!', 'a-b'],
  ['日本', 'device'],
  ['x'.repeat(41), 'x'.repeat(40)],
])('the id of a device called %s begins with %s', async (name, start) => {
  const { admit } = openSampleDevices();
  for (const { device } of [await admit({ name }), await admit({ name: undefined }, name)]) {
    expect(device.name).toBe(name);
    expect(device.device_id).toMatch(new RegExp(`^${start}-[0-9a-f]{8}$`));
  }
});

test('nobody is let in by a right that has ended, and whoever was is out with it', async () => {
  const gone = new Set<string>();
  const { devices, admit, identify, store } = openSampleDevices({
    authority: { ended: ({ jti = '' }) => gone.has(jti) },
  });
  const elder = await admit({ grant: { jti: 'j', devices: [] } });
  const younger = await admit({ grant: { jti: 'k', devices: [elder.device.device_id] } });
  const claims = await identify(younger.secret);
  gone.add('k');
  const taken = REFUSED('the token behind it was revoked, its key retired, or the person signed out');
  expect(() => devices.recheck(claims)).toThrow(taken);
  await expect(identify(younger.secret)).rejects.toEqual(taken);
  await expect(devices.adopt(younger.device.device_id)).rejects.toEqual(taken);
  await expect(admit({ grant: { jti: 'k', devices: [] } })).rejects.toThrow('not let in');
  gone.clear();
  await revoke(store, elder.device);
  await expect(admit({ grant: { devices: [elder.device.device_id] } })).rejects.toThrow('not let in');
  await expect(identify(younger.secret)).rejects.toEqual(REFUSED('the device behind it was revoked'));
  expect(await store.records({ kind: 'device', workspace_id: 'w', limit: 9 })).toHaveLength(2);
});

test('what was taken back elsewhere is heeded before anybody is let through', async () => {
  const elsewhere = { isOver: false };
  const here = { isOver: false };
  const { admit, identify } = openSampleDevices({
    authority: { ended: () => here.isOver, fresh: async () => void Object.assign(here, elsewhere) },
  });
  const { secret } = await admit();
  await identify(secret);
  elsewhere.isOver = true;
  await expect(identify(secret)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  here.isOver = false;
  await expect(admit()).rejects.toThrow('not let in');
});

test('the right of what a device lets in rests on what it rests on itself, and on the device', async () => {
  const { devices, admit, identify } = openSampleDevices();
  const { device, secret } = await admit({ grant: { jti: 'j', kid: 'k', devices: ['elder'] } });
  const claims = await identify(secret);
  expect(devices.grantOf(claims)).toStrictEqual({
    jti: 'j',
    kid: 'k',
    devices: ['elder', device.device_id],
  });
  expect(devices.grantOf({ ...claims })).toBeUndefined();
});

test('a stream sees within a second that its device was sent away elsewhere', async () => {
  const { devices, admit, identify, store, pass, faults } = openSampleDevices();
  const { device, secret } = await admit();
  const claims = await identify(secret);
  await revoke(store, device);
  pass(999);
  devices.recheck(claims);
  await turn();
  devices.recheck(claims);
  pass(1);
  devices.recheck(claims);
  await turn();
  expect(() => devices.recheck(claims)).toThrow(REFUSED('the device was revoked'));
  await expect(devices.adopt(device.device_id)).rejects.toEqual(REFUSED('the device was revoked'));
  expect(() => devices.recheck({ ...claims, session_id: 'unknown' })).toThrow(NONE);
  await expect(devices.adopt('unknown')).rejects.toEqual(NONE);
  expect(await devices.find('unknown')).toBeUndefined();
  expect(faults).toEqual([]);
});

test('a store that does not answer is told, and costs neither a stream nor a request its device', async () => {
  const kept = openMemoryStore(() => SAMPLE_START);
  let isDown = false;
  const fault = new Error('no store');
  const store: Store = {
    ...kept,
    records: (query) => (isDown ? Promise.reject(fault) : kept.records(query)),
    transact: (command) => (command.type === 'touch_device' ? Promise.reject(fault) : kept.transact(command)),
  };
  const { devices, admit, identify, pass, faults } = openSampleDevices({ store });
  const { secret } = await admit();
  pass(600_000);
  const claims = await identify(secret);
  await turn();
  expect(faults).toEqual([fault]);
  isDown = true;
  pass(1_000);
  devices.recheck(claims);
  await turn();
  expect(faults).toEqual([fault, fault]);
});

test('its use is on record every ten minutes, and ends when its issuer must be asked again', async () => {
  const at = (ms: number): string => new Date(SAMPLE_START + ms).toISOString();
  const { devices, admit, identify, pass } = openSampleDevices();
  const { device, secret } = await admit();
  const seen = async () => {
    await identify(secret);
    await turn();
    const { last_seen_at, expires_at } = (await devices.find(device.device_id)) ?? {};
    return [last_seen_at, expires_at];
  };
  expect([device.created_at, device.last_seen_at, device.expires_at]).toEqual([at(0), at(0), at(30 * DAY)]);
  pass(599_999);
  expect(await seen()).toEqual([at(0), at(30 * DAY)]);
  pass(1);
  expect(await seen()).toEqual([at(600_000), at(600_000 + 30 * DAY)]);
  const asked = async (until: string) => {
    const account = { issuer: 'https://id.example', subject: '7', name: 'boss', workspace_id: 'w' };
    const person: PersonGrant = { ...account, since: at(0), until, places: [] };
    return (await admit({ grant: { person, devices: [] } })).device.expires_at;
  };
  expect(await asked(at(DAY))).toBe(at(DAY));
  expect(await asked(at(31 * DAY))).toBe(at(600_000 + 30 * DAY));
});

test('a device whose place another has taken ends at once, and one that is not there is no fault', async () => {
  const { devices, admit, identify } = openSampleDevices();
  const { secret } = await admit();
  const claims = await identify(secret);
  await devices.leave(claims);
  expect(() => devices.recheck(claims)).toThrow(AWAY);
  await expect(identify(secret)).rejects.toEqual(AWAY);
  await devices.leave({ ...claims, session_id: 'unknown' });
});

test('a thousand devices are held, the first of them forgotten first', async () => {
  const { devices, admit, identify } = openSampleDevices();
  const first = await identify((await admit()).secret);
  const second = await identify((await admit()).secret);
  for (let i = 2; i < 1_000; i++) await devices.find((await admit()).device.device_id);
  devices.recheck(first);
  await devices.find((await admit()).device.device_id);
  expect(() => devices.recheck(first)).toThrow(NONE);
  devices.recheck(second);
});
