import { type Caller, type EnvelopeAction, ParleyError, type Trace } from '@parley/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { Grant } from '../devices/grant.ts';
import { requireDone } from '../envelope/order.ts';
import { createFeed } from '../feed.ts';
import { createLog } from '../log.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { DeviceRecord, RecordsQuery } from '../records.ts';
import type { Store } from '../store.ts';
import { createDeliveryQueue, type DeliveryQueueDeps } from './delivery-queue.ts';
import type { DueDelivery } from './dispatcher.ts';
import type { QueueEvent } from './observer.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const ed: Caller = { agent_id: 'ed', workspace_id: 'a', role: 'orchestrator', session_id: 's' };
const MAX_MS = 60_000;

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

type Call = Parameters<Parameters<ReturnType<typeof createDeliveryQueue>['start']>[0]['call']>;

/** A queue whose lines the test holds in its hand: what is put in waits until it is worked on by name. */
async function open(
  more: Partial<DeliveryQueueDeps> = {},
  run: () => Promise<object> = async () => ({ ok: true }),
) {
  const store = more.store ?? openMemoryStore(() => Date.now());
  const put = vi.fn<(due: DueDelivery, delayMs: number) => void>();
  const hold = vi.fn<(due: DueDelivery, restMs: number) => void>();
  const inLine = { count: 0 };
  let work: (due: DueDelivery) => Promise<void> = async () => {};
  const events: QueueEvent[] = [];
  const faults: unknown[] = [];
  const calls: Call[] = [];
  const office = createDeliveryQueue({
    authority: { ended: () => false },
    store,
    log: createLog(store, createFeed()),
    clock: { now: () => Date.now(), monotonic: () => performance.now(), trusted: () => Date.now() },
    chance: { bytes: (count) => new Uint8Array(count), below: () => 0 },
    dispatcher: {
      put,
      resume: put,
      hold,
      waiting: () => inLine.count,
      start: (worker) => void (work = worker),
      close: async () => {},
    },
    settings: {
      ackDeadlineMs: 30_000,
      maxAttempts: 5,
      backoff: { firstMs: 1_000, maxMs: MAX_MS },
      maxWaiting: 100,
      keepDoneMs: 86_400_000,
      keepDeadMs: 2 * 86_400_000,
      sweepMs: 3_600_000,
      idempotencyWindowMs: 86_400_000,
      concurrent: 4,
    },
    observe: (event) => events.push(event),
    onFault: (error) => faults.push(error),
    ...more,
  });
  await office.start({
    call: async (...call: never) => {
      calls.push(call);
      return (await run()) as never;
    },
  });
  let seq = 0;
  const post = async (
    about: { action?: EnvelopeAction; ttlMs?: number; trace?: Trace; grant?: Grant } = {},
  ): Promise<DueDelivery & { eta: string }> => {
    const { action = 'knowledge.create_document', ttlMs = 86_400_000, trace, grant } = about;
    const n = ++seq;
    const { delivery_id, eta } = requireDone(
      await office.accept({
        caller: ed,
        action,
        args: { n },
        idempotency_key: `key-${n}`,
        order: { context_id: 'c', seq: n },
        expiresAt: Date.now() + ttlMs,
        trace,
        grant,
      }),
    );
    return { workspace_id: 'a', delivery_id, eta };
  };
  const find = async ({ delivery_id }: DueDelivery) =>
    (await store.records({ kind: 'delivery', workspace_id: 'a', keys: [delivery_id], limit: 1 }))[0];
  const due = ({ workspace_id, delivery_id }: DueDelivery): DueDelivery => ({ workspace_id, delivery_id });
  return {
    office,
    store,
    put,
    hold,
    inLine,
    events,
    faults,
    calls,
    post,
    find,
    due,
    work: (one: DueDelivery) => work(due(one)),
  };
}

const job = (isOwned: boolean) => ({ isOwned, log: <T>(log: T): T => log });

test('[R7] what another node carries out is told to it, and not put in line here', async () => {
  const onForeign = vi.fn<(due: DueDelivery) => void>();
  const away = job(false);
  const { post, put, due, work, find, office } = await open({ job: away, onForeign });
  const one = await post();
  expect(onForeign.mock.calls).toEqual([[due(one)]]);
  await work(one);
  expect(onForeign).toHaveBeenCalledTimes(2);
  office.heard(due(one));
  await vi.advanceTimersByTimeAsync(10_000);
  await office.lookAgain();
  expect(put).not.toHaveBeenCalled();
  expect(await find(one)).toMatchObject({ status: 'waiting', attempts: 0 });
  away.isOwned = true;
  office.heard(due(one));
  const two = await post();
  expect(put.mock.calls).toEqual([
    [due(one), 0],
    [due(two), 0],
  ]);
  await work(one);
  expect(onForeign).toHaveBeenCalledTimes(2);
  expect(await find(one)).toMatchObject({ status: 'done' });
});

test('[R7] who has lost the job and knows nobody to tell keeps what is due for later; without jobs all is done here', async () => {
  const { post, put, due, work, find } = await open({ job: job(false) });
  const one = await post();
  await work(one);
  expect(put.mock.calls).toEqual([
    [due(one), 0],
    [due(one), MAX_MS],
  ]);
  expect(await find(one)).toMatchObject({ status: 'waiting' });
  const alone = await open({ onForeign: () => expect.unreachable() });
  const two = await alone.post();
  alone.office.heard(two);
  await alone.work(two);
  expect(alone.put).toHaveBeenCalledTimes(2);
  expect(await alone.find(two)).toMatchObject({ status: 'done' });
});

test('[R7] what waits for more than two seconds with nobody at it is taken up', async () => {
  const { office, post, put, due, inLine } = await open();
  const one = await post();
  put.mockClear();
  await vi.advanceTimersByTimeAsync(2_000);
  await office.lookAgain();
  expect(put).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  inLine.count = 1;
  await office.lookAgain();
  expect(put).not.toHaveBeenCalled();
  inLine.count = 0;
  await office.lookAgain();
  expect(put.mock.calls).toEqual([[due(one), 0]]);
});

test('[KNOW-3] what waits out a failure is looked for from its next attempt on, and a start waits no longer than a failure does', async () => {
  const store = openMemoryStore(() => Date.now());
  const { office, post, put, work, due } = await open({ store }, () =>
    Promise.reject(new ParleyError('UNAVAILABLE', 'down')),
  );
  const one = await post();
  await work(one);
  expect(put.mock.calls.at(-1)).toEqual([due(one), 500]);
  put.mockClear();
  await vi.advanceTimersByTimeAsync(2_400);
  await office.lookAgain();
  expect(put).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(101);
  await office.lookAgain();
  expect(put).toHaveBeenCalledOnce();
  vi.setSystemTime(NOW + 100);
  expect((await open({ store })).put.mock.calls).toEqual([[due(one), 400]]);
  vi.setSystemTime(NOW - 86_400_000);
  expect((await open({ store })).put.mock.calls).toEqual([[due(one), MAX_MS]]);
  expect((await open()).put.mock.calls).toEqual([]);
});

test('[KNOW-3] what the store does not take is told, and tried again after the longest wait', async () => {
  const kept = openMemoryStore(() => Date.now());
  const broken: Store = {
    ...kept,
    async transact(command) {
      if (command.type === 'settle_delivery') throw new Error('the disk is full');
      return kept.transact(command);
    },
  };
  const { post, work, put, due, faults } = await open({ store: broken });
  const one = await post();
  await work(one);
  expect(faults).toEqual([new Error('the disk is full')]);
  expect(put.mock.calls.at(-1)).toEqual([due(one), MAX_MS]);
});

test('[KNOW-3] [R12] a right that was taken back at another node is none here, before anything is carried out', async () => {
  const known = { isOver: false };
  const { post, work, find, calls, office } = await open({
    authority: { ended: () => known.isOver, fresh: async () => void (known.isOver = true) },
  });
  const one = await post({ grant: { kid: 'k', devices: [] } });
  await work(one);
  expect(calls).toEqual([]);
  expect(await find(one)).toMatchObject({ status: 'dead', error: { code: 'UNAUTHORIZED' } });
  await office.close();
});

test('[KNOW-3] a delivery whose body is missing, or whose sender lost its right, is dead with the reason', async () => {
  const kept = openMemoryStore(() => Date.now());
  const lossy = {
    ...kept,
    records: async (query: { kind: string }) =>
      query.kind === 'delivery_body' ? [] : kept.records(query as never),
  } as Store;
  const lost = await open({ store: lossy });
  const one = await lost.post();
  await lost.work(one);
  expect(await lost.find(one)).toMatchObject({
    status: 'dead',
    error: { code: 'INTERNAL', message: 'its body is missing' },
  });
  const grant = { kid: 'k', devices: [] };
  const trace = { traceparent: 't-1' };
  const ended = vi.fn((of: Grant) => of.kid === 'k');
  const revoked = await open({ authority: { ended } });
  const two = await revoked.post({ grant, trace });
  await revoked.work(two);
  expect(await revoked.find(two)).toMatchObject({
    status: 'dead',
    error: { code: 'UNAUTHORIZED' },
    trace_id: 't-1',
  });
  const three = await revoked.post();
  await revoked.work(three);
  expect(await revoked.find(three)).toMatchObject({ status: 'done' });
  expect([lost.calls.length, revoked.calls.length]).toEqual([0, 1]);
});

test('[KNOW-3] a delivery whose sender was let in by a device that was sent away is dead', async () => {
  const { post, work, find, store, calls } = await open();
  const at = new Date(NOW).toISOString();
  const device: DeviceRecord = {
    device_id: 'tablet-1',
    name: 'tablet',
    agent_id: 'ed',
    workspace_id: 'a',
    role: 'operator',
    read_only: false,
    created_at: at,
    last_seen_at: at,
    expires_at: new Date(NOW + MAX_MS).toISOString(),
    secret_hash: 'x',
    revoked_at: at,
  };
  await store.transact({ type: 'add_device', caller: ed, now: NOW, salt: 0, input: { device } });
  const one = await post({ grant: { devices: [device.device_id] } });
  await work(one);
  const error = { code: 'UNAUTHORIZED', message: 'the device behind it was revoked' };
  expect(await find(one)).toMatchObject({ status: 'dead', error });
  expect(calls).toEqual([]);
});

test('[KNOW-3] of what was promised no hour, as in records of before, nobody is told how late it was', async () => {
  const kept = openMemoryStore(() => Date.now());
  const store = {
    ...kept,
    records: async (query: RecordsQuery) =>
      (await kept.records(query)).map((one) => ({ ...one, eta: undefined })),
  } as Store;
  const { post, work, events } = await open({ store });
  await work(await post());
  expect(events.at(-1)).toMatchObject({ kind: 'delivered' });
  expect(events.at(-1)).not.toHaveProperty('pastEtaMs');
});

test('[R7] whatever waits is taken up at a start, and looked for by its time, however much it is', async () => {
  const { store, post } = await open();
  const posted: DueDelivery[] = [];
  for (let n = 0; n < 501; n++) posted.push(await post());
  const { put, office, due } = await open({ store });
  const all = posted.map((one) => [due(one), 0]);
  expect(put.mock.calls).toEqual(all);
  put.mockClear();
  vi.setSystemTime(NOW + 2_001);
  await office.lookAgain();
  expect(put.mock.calls).toEqual(all);
});

test('[KNOW-3] a question that comes too late is not asked, one in time is asked under its own key', async () => {
  const { post, work, find, calls } = await open();
  const [one, two] = [
    await post({ action: 'knowledge.get_document', ttlMs: 1_000 }),
    await post({ action: 'knowledge.get_document', ttlMs: 999, trace: { traceparent: 't-1' } }),
  ];
  await vi.advanceTimersByTimeAsync(1_000);
  await work(one);
  await work(two);
  expect(await find(one)).toMatchObject({ status: 'done' });
  expect(await find(two)).toMatchObject({
    status: 'dead',
    error: { code: 'EXPIRED', message: `it was good until ${new Date(NOW + 999).toISOString()}` },
  });
  expect(calls).toHaveLength(1);
  expect(calls[0]?.slice(0, 3)).toEqual([ed, 'get_document', { n: 1 }]);
  expect(calls[0]?.[3]).toMatchObject({
    request_id: one.delivery_id,
    read_key: 'key-1',
    deadline: NOW + 1_000,
  });
});

test('[KNOW-3] a workspace whose sender has used up its quota rests as long as it is told, or a second', async () => {
  let details: { retry_after_ms: number } | undefined = { retry_after_ms: 7 };
  const { post, work, hold, due } = await open({}, () =>
    Promise.reject(new ParleyError('RATE_LIMITED', 'slow down', details)),
  );
  const one = await post();
  await work(one);
  details = undefined;
  await work(one);
  expect(hold.mock.calls).toEqual([
    [due(one), 7],
    [due(one), 1_000],
  ]);
});

test('[KNOW-3] the hour that is promised counts the line and what the last ones took, and is never past its time', async () => {
  const took = 8_000;
  const { post, work, events, inLine, office } = await open(
    {},
    () => new Promise((resolve) => setTimeout(() => resolve({}), took)),
  );
  await vi.advanceTimersByTimeAsync(5_000);
  const from = NOW + 5_000;
  const one = await post();
  expect(one.eta).toBe(new Date(from + 1_000).toISOString());
  expect((await post({ ttlMs: 400 })).eta).toBe(new Date(from + 400).toISOString());
  const working = work(one);
  await vi.advanceTimersByTimeAsync(took);
  await working;
  expect(events.at(-1)).toMatchObject({ kind: 'delivered', attempts: 1, ms: took, pastEtaMs: took - 1_000 });
  inLine.count = 4;
  // 500 ms at first, of which the newest counts a fifth; five in line for four places take two rounds.
  expect((await post()).eta).toBe(new Date(from + took + 4_000).toISOString());
  await office.close();
});

test('[KNOW-3] ids are in the order in which they were given, also when the clock is set back', async () => {
  const { post } = await open();
  const ids = [(await post()).delivery_id, (await post()).delivery_id];
  vi.setSystemTime(NOW - 1_000);
  ids.push((await post()).delivery_id);
  expect(ids.toSorted()).toEqual(ids);
  const moments = () => new Set(ids.map((id) => id.slice(0, 14))).size;
  expect(moments()).toBe(1);
  vi.setSystemTime(NOW + 1);
  ids.push((await post()).delivery_id);
  expect(ids.toSorted()).toEqual(ids);
  expect(moments()).toBe(2);
});

test('[KNOW-3] a redrive under one key is one, and nothing comes of one past its deadline', async () => {
  const { office, post, work, find, events, put } = await open({}, () =>
    Promise.reject(new ParleyError('NOT_FOUND', 'there is none')),
  );
  const one = await post();
  await work(one);
  const dead = await find(one);
  if (dead === undefined) throw new Error('it is gone');
  put.mockClear();
  await vi.advanceTimersByTimeAsync(5);
  const late = office.redrive(ed, dead, { key: undefined, deadline: NOW + 4 });
  await expect(late).rejects.toThrow();
  put.mockClear();
  const again = () => office.redrive(ed, dead, { key: 'again', deadline: NOW + 5 });
  const first = await again();
  expect(first).toMatchObject({ redriven: true });
  expect(await again()).toEqual(first);
  expect(events.filter(({ kind }) => kind === 'redriven')).toHaveLength(1);
  expect(put).toHaveBeenCalledOnce();
  const two = await post();
  await work(two);
  const other = await find(two);
  if (other === undefined) throw new Error('it is gone');
  // Of another delivery the same key is another's.
  expect(await office.redrive(ed, other, { key: 'again', deadline: undefined })).toMatchObject({
    delivery_id: two.delivery_id,
    redriven: true,
  });
});

test('[KNOW-3] what is not there is no fault, what is done is not done again, and what two do at once is told once', async () => {
  const { post, work, find, events, faults, put, calls } = await open();
  await work({ workspace_id: 'a', delivery_id: 'unknown' });
  expect([put.mock.calls, faults]).toEqual([[], []]);
  const one = await post();
  await work(one);
  await work(one);
  expect(calls).toHaveLength(1);
  const two = await post();
  await Promise.all([work(two), work(two)]);
  expect(calls).toHaveLength(3);
  expect(await find(two)).toMatchObject({ status: 'done', attempts: 1 });
  expect(events.map(({ kind }) => kind)).toEqual(['accepted', 'delivered', 'accepted', 'delivered']);
});

test('[KNOW-3] what was sent twice, or comes too late in its order, is put in line no second time', async () => {
  const { office, put, events } = await open();
  const send = (idempotency_key: string, seq: number) =>
    office.accept({
      caller: ed,
      action: 'knowledge.create_document',
      args: {},
      idempotency_key,
      order: { context_id: 'c', seq },
      expiresAt: NOW + 60_000,
    });
  await send('k', 2);
  await send('k', 2);
  expect(await send('l', 1)).toMatchObject({ ignored: true });
  expect(put).toHaveBeenCalledOnce();
  expect(events).toHaveLength(1);
});

test('[KNOW-3] what is done is kept for a day and what is dead for two, and then forgotten', async () => {
  let isDown = false;
  const { office, post, work, find } = await open({}, async () => {
    if (isDown) throw new ParleyError('NOT_FOUND', 'there is none');
    return {};
  });
  const done = await post();
  await work(done);
  isDown = true;
  const dead = await post();
  await work(dead);
  const kept = async () => [(await find(done))?.status, (await find(dead))?.status];
  const sweepAt = async (at: number) => {
    vi.setSystemTime(at);
    await office.sweep();
    return kept();
  };
  expect(await sweepAt(NOW + 86_400_000)).toEqual(['done', 'dead']);
  expect(await sweepAt(NOW + 86_400_001)).toEqual([undefined, 'dead']);
  expect(await sweepAt(NOW + 2 * 86_400_000)).toEqual([undefined, 'dead']);
  expect(await sweepAt(NOW + 2 * 86_400_000 + 1)).toEqual([undefined, undefined]);
});

test('a queue that ends leaves what was begun to the next, and looks after nothing more', async () => {
  let fail: (error: Error) => void = () => {};
  const { office, post, work, find, put } = await open({}, () => new Promise((_, reject) => (fail = reject)));
  const [one, two] = [await post(), await post()];
  const working = [work(one), work(two)];
  await vi.advanceTimersByTimeAsync(1);
  put.mockClear();
  fail(new ParleyError('UNAVAILABLE', 'the hub is stopping'));
  await office.close();
  await Promise.all(working);
  expect(await find(two)).toMatchObject({ status: 'waiting', attempts: 0 });
  expect(put).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
