import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { createFeed, createLog, openMemoryStore } from '@parley/core';
import { expect, test } from 'vitest';

import { createDevices, type Devices } from './devices.ts';

const DAY = 86_400_000;
const AWAY = expect.objectContaining({ reason: 'the device was away too long' });
const START = Date.parse('2030-01-01T00:00:00Z');

/** What is signed in over a store of its own, by a clock that the test moves. */
async function signedIn() {
  let time = START;
  const now = (): number => time;
  const clock = { now, monotonic: now, trusted: now };
  const store = openMemoryStore(now);
  const faults: unknown[] = [];
  const devices = createDevices({
    store,
    log: createLog(store, createFeed()),
    clock,
    chance: { bytes: (count) => randomBytes(count), below: () => 0 },
    authority: { ended: () => false },
    onFault: (error) => faults.push(error),
  });
  const invitation = {
    agent_id: 'boss',
    workspace_id: 'w',
    name: 'tablet',
    read_only: false,
    grant: { devices: [] },
    code: '',
    key: '',
    until: 0,
  };
  const admitted = await devices.admit(invitation, 'Browser');
  const request = {
    headers: { cookie: `parley-7777=${admitted?.secret}`, host: 'h', 'sec-fetch-site': 'same-origin' },
    socket: { localPort: 7777 },
  } as IncomingMessage;
  const identify = (): ReturnType<Devices['identify']> => devices.identify(request);
  return { devices, identify, faults, pass: (ms: number) => (time += ms) };
}

test('a device that nobody uses for thirty days is signed out, and so is what it has open', async () => {
  const { devices, identify, pass, faults } = await signedIn();
  pass(30 * DAY - 1);
  const claims = await identify();
  if (claims === undefined) throw new Error('not identified');
  expect(claims).toMatchObject({ agent_id: 'boss', workspace_id: 'w', role: 'operator' });
  // That very use is on record by now, and gives it thirty days more.
  await expect
    .poll(async () => (await devices.find(claims.session_id))?.last_seen_at)
    .toContain('2030-01-30');
  pass(30 * DAY - 1);
  devices.recheck(claims);
  pass(1);
  expect(() => devices.recheck(claims)).toThrow(AWAY);
  await expect(identify()).rejects.toEqual(AWAY);
  expect(faults).toEqual([]);
});

test('a device that is used every week stays, and its end moves with its use', async () => {
  const { identify, pass } = await signedIn();
  for (let week = 1; week <= 9; week++) {
    pass(7 * DAY);
    await expect(identify()).resolves.toMatchObject({ agent_id: 'boss' });
  }
  pass(30 * DAY);
  await expect(identify()).rejects.toEqual(AWAY);
});
