import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { createFeed, createLog, type DeviceRecord, openMemoryStore } from '@parley/core';

import { createDevices, type Devices, type DevicesOptions } from './devices.ts';

export const SAMPLE_START = Date.parse('2030-01-01T00:00:00Z');

const PORT = 7777;

/** A request of a page, from where its browser says, with the cookie of a device. */
export function sampleRequest(cookie: string | undefined, site = 'same-origin'): IncomingMessage {
  const headers = { host: 'h', 'sec-fetch-site': site };
  return {
    headers: cookie === undefined ? headers : { ...headers, cookie: `parley-${PORT}=${cookie}` },
    socket: { localPort: PORT },
  } as unknown as IncomingMessage;
}

/** Devices over a store of their own, by a clock that the test moves. */
export function openSampleDevices(more: Partial<DevicesOptions> = {}) {
  let time = SAMPLE_START;
  const now = (): number => time;
  const clock = { now, monotonic: now, trusted: now };
  const store = more.store ?? openMemoryStore(now);
  const faults: unknown[] = [];
  const devices = createDevices({
    store,
    log: createLog(store, createFeed()),
    clock,
    chance: { bytes: (count) => randomBytes(count), below: () => 0 },
    authority: { ended: () => false },
    onFault: (error) => faults.push(error),
    ...more,
  });
  const admit = async (
    about: Partial<Parameters<Devices['admit']>[0]> = {},
    name = 'Browser',
  ): Promise<{ device: DeviceRecord; secret: string }> => {
    const person = { agent_id: 'boss', workspace_id: 'w', name: 'tablet', read_only: false };
    const admitted = await devices.admit({ ...person, grant: { devices: [] }, ...about }, name);
    if (admitted === undefined) throw new Error('not let in');
    return admitted;
  };
  const identify = async (secret: string) => {
    const claims = await devices.identify(sampleRequest(secret));
    if (claims === undefined) throw new Error('no cookie');
    return claims;
  };
  return { devices, store, admit, identify, faults, pass: (ms: number) => (time += ms) };
}
