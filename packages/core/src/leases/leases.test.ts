import { randomBytes } from 'node:crypto';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createFeed } from '../feed.ts';
import { createLog, type Log } from '../log.ts';
import { callerOf, creating, posting } from '../store-contract/scene.ts';
import type { Store } from '../store.ts';
import { openMemoryStore } from '../store-memory.ts';
import { createLeases, type Leases } from './leases.ts';
import { createOwnedJob, type OwnedJob } from './owned-job.ts';

const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const chance = { bytes: (count: number) => randomBytes(count), below: () => 0 };
const LONG = 10_000;
const ann = callerOf('ann', 'w');
const { signal: never } = new AbortController();
let store: Store;
let log: Log;
let faults: string[];
let jobs: OwnedJob[];

beforeEach(async () => {
  store = openMemoryStore(clock.now);
  log = createLog(store, createFeed());
  faults = [];
  jobs = [];
  await log.append(creating('t', ann));
});
afterEach(async () => {
  await Promise.all(jobs.map((job) => job.close()));
});

/** Leases as one process has them; with a time they may be shared. */
const process = (ttlMs?: number): Leases =>
  createLeases({ store, clock, chance, ...(ttlMs === undefined ? {} : { ttlMs }) });

function jobOf(leases: Leases): OwnedJob {
  const job = createOwnedJob({ leases, onFault: (error) => faults.push(String(error)) }, 'asks');
  jobs.push(job);
  return job;
}

async function said(): Promise<string[]> {
  const query = { workspace_id: 'w', thread_id: 't', after: 0, limit: 99, max_bytes: 1e6 };
  return (await store.page(query)).entries.map(({ body }) => body);
}

test('a process that has the store for itself has every job, under one epoch that rises with each start', async () => {
  const first = process();
  const [asks, wakes] = [await first.take('asks', never), await first.take('wakes', never)];
  expect([asks.fence, wakes.fence]).toEqual([
    { lease: 'hub', epoch: 1 },
    { lease: 'hub', epoch: 1 },
  ]);
  expect((await process().take('queue', never)).fence).toEqual({ lease: 'hub', epoch: 2 });
});

test('[R2] a job whose process was followed by another writes nothing more, says so, and goes on when it has the lease again', async () => {
  const first = jobOf(process());
  const begun: string[] = [];
  await first.start(async () => {
    begun.push('begun');
    return () => void begun.push('ended');
  });
  await first.log(log).append(posting('t', 'one', ann));
  await process().take('asks', never);
  await expect(first.log(log).append(posting('t', 'stale', ann))).rejects.toMatchObject({
    code: 'CONFLICT',
    details: { reason: 'lease_lost' },
  });
  expect(first.isOwned).toBe(false);
  await expect(first.store(store).transact(posting('t', 'stale', ann))).rejects.toThrow();
  await vi.waitFor(() => expect(begun).toEqual(['begun', 'ended', 'begun']), LONG);
  expect(faults).toEqual(['ParleyError: the lease of "asks" was lost; it is taken anew']);
  await first.log(log).append(posting('t', 'two', ann));
  expect(await said()).toEqual(['one', 'two']);
});

test('[R2] of two processes that share a store one does the job; when it is gone the other takes over', async () => {
  const running: string[] = [];
  const run = async (name: string, job: OwnedJob): Promise<void> =>
    job.start(async () => {
      running.push(name);
      return () => void running.splice(running.indexOf(name), 1);
    });
  const [a, b] = [jobOf(process(600)), jobOf(process(600))];
  void run('a', a);
  await vi.waitFor(() => expect(running).toEqual(['a']), LONG);
  void run('b', b);
  // Longer than the lease lasts: it is renewed.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect([running, a.isOwned, b.isOwned]).toEqual([['a'], true, false]);
  await a.close();
  await vi.waitFor(() => expect(running).toEqual(['b']), LONG);
  await b.log(log).append(posting('t', 'of b', ann));
  await expect(a.log(log).append(posting('t', 'of a', ann))).rejects.toThrow();
  expect(await said()).toEqual(['of b']);
});

test('[R2] one that hears nothing of the store for as long as its lease lasts stops by itself', async () => {
  const job = jobOf(process(300));
  let isRunning = false;
  await job.start(async () => {
    isRunning = true;
    return () => void (isRunning = false);
  });
  const transact = vi.spyOn(store, 'transact').mockRejectedValue(new Error('the store is away'));
  await vi.waitFor(() => expect([isRunning, job.isOwned]).toEqual([false, false]), LONG);
  transact.mockRestore();
  await vi.waitFor(() => expect([isRunning, job.isOwned]).toEqual([true, true]), LONG);
});

test('[R8] a lease that cannot be written down is told of once and tried again; whoever writes hears why', async () => {
  const transact = vi.spyOn(store, 'transact').mockRejectedValue(new Error('the disk is full'));
  const job = jobOf(process());
  const begin = vi.fn(async () => {});
  await job.start(begin);
  expect(begin).not.toHaveBeenCalled();
  await expect(job.log(log).append(posting('t', 'x', ann))).rejects.toThrow('the disk is full');
  await vi.waitFor(() => expect(transact.mock.calls.length).toBeGreaterThan(1), LONG);
  expect(faults).toEqual(['Error: the disk is full']);
  transact.mockRestore();
  await vi.waitFor(() => expect(begin).toHaveBeenCalledOnce(), LONG);
  await job.log(log).append(posting('t', 'x', ann));
  expect(await said()).toEqual(['x']);
});
