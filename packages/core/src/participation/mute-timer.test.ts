import type { Control } from '@parley/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createFeed } from '../feed.ts';
import { createLog } from '../log.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';
import { ALL, callerOf, creating, head } from '../store-contract/scene.ts';
import { createMuteKeeper } from './mute-keeper.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const boss = callerOf('boss', 'w', 'operator');

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

/** A keeper over a store of two threads, with the disk in the hand of the test. */
async function open() {
  const kept = openMemoryStore(() => Date.now());
  const disk = { isBroken: false, looks: 0 };
  const store: Store = {
    ...kept,
    async records(query) {
      disk.looks += 1;
      if (disk.isBroken) throw new Error('the disk does not answer');
      return kept.records(query);
    },
  };
  for (const thread of ['t', 'u']) await kept.transact(creating(thread, boss, ['ann', 'bob'], NOW));
  const clock = { now: () => Date.now(), monotonic: () => performance.now(), trusted: () => Date.now() };
  const chance = { bytes: (count: number) => new Uint8Array(count), below: () => 0 };
  const onFault = vi.fn<(error: unknown) => void>();
  const keeper = createMuteKeeper(store, createLog(store, createFeed()), clock, chance, onFault);
  const mute = async (thread_id: string, target: string, for_seconds: number): Promise<void> => {
    const control: Control = { mute: { mode: 'hard', targets: [target], for_seconds } };
    await kept.transact({ type: 'control_thread', ...head(boss, Date.now()), thread_id, input: { control } });
    keeper.look();
    await vi.advanceTimersByTimeAsync(0);
  };
  const muted = async (thread_id: string): Promise<readonly string[]> =>
    (await kept.page({ workspace_id: 'w', thread_id, after: 0, ...ALL })).located.thread?.conversation
      ?.muted ?? [];
  return { keeper, disk, onFault, mute, muted };
}

test('a mute ends in the moment in which its time is up, in every thread', async () => {
  const { keeper, mute, muted } = await open();
  await keeper.start();
  expect(vi.getTimerCount()).toBe(0);
  await mute('t', 'ann', 30);
  await mute('u', 'bob', 20);
  await vi.advanceTimersByTimeAsync(19_999);
  expect([await muted('t'), await muted('u')]).toEqual([['ann'], ['bob']]);
  await vi.advanceTimersByTimeAsync(1);
  expect([await muted('t'), await muted('u')]).toEqual([['ann'], []]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await muted('t')).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a long mute is looked after once a minute, since clocks are set', async () => {
  const { keeper, disk, mute, muted } = await open();
  await mute('t', 'ann', 3_600);
  disk.looks = 0;
  await vi.advanceTimersByTimeAsync(59_999);
  expect(disk.looks).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(disk.looks).toBeGreaterThan(0);
  expect(vi.getTimerCount()).toBe(1);
  vi.setSystemTime(NOW + 3_600_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await muted('t')).toEqual([]);
  keeper.close();
});

test('what the disk does not take is told, and tried again after a second', async () => {
  const { disk, onFault, mute, muted } = await open();
  await mute('t', 'ann', 10);
  disk.isBroken = true;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(onFault.mock.calls).toEqual([[new Error('the disk does not answer')]]);
  disk.isBroken = false;
  await vi.advanceTimersByTimeAsync(999);
  expect(await muted('t')).toEqual(['ann']);
  await vi.advanceTimersByTimeAsync(1);
  expect(await muted('t')).toEqual([]);
});

test('a keeper that is closed ends nothing and says nothing, until it is started again', async () => {
  const { keeper, disk, onFault, mute, muted } = await open();
  await mute('t', 'ann', 10);
  keeper.close();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(20_000);
  await keeper.settleAll();
  expect([await muted('t'), vi.getTimerCount()]).toEqual([['ann'], 0]);
  disk.isBroken = true;
  await keeper.settleAll();
  expect([onFault.mock.calls, vi.getTimerCount()]).toEqual([[], 0]);
  disk.isBroken = false;
  await keeper.start();
  expect(await muted('t')).toEqual([]);
});
