import { ParleyError } from '@parley/protocol';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { hubCaller } from '../hub-caller.ts';
import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';
import { journalId, treeId } from '../threads/access.ts';
import type { Dispatcher } from './dispatcher.ts';
import { createFairDispatcher } from './fair-dispatcher.ts';
import type { QueueSettings } from './delivery-queue.ts';
import { DISPATCHERS, ed, type Handler, openSampleQueue } from './sample-queue.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2030-01-01T00:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

let newDispatcher = (): Dispatcher => createFairDispatcher({ perWorkspace: 4, atOnce: 16 });

const open = (handler: Handler, more: { store?: Store; settings?: Partial<QueueSettings> } = {}) =>
  openSampleQueue(newDispatcher(), handler, more);

const down = () => Promise.reject(new ParleyError('UNAVAILABLE', 'down'));

describe.each(DISPATCHERS)('over %s', (_name, make) => {
  beforeEach(() => void (newDispatcher = make));

  test('[KNOW-3] [C-ASYNC-01] what fails three times and then works is done once, after growing gaps with chance in them', async () => {
    const tries: number[] = [];
    const { post, find, kinds, office } = await open(async ({ n }) => {
      tries.push(Date.now());
      return tries.length <= 3 ? down() : { n };
    });
    const { delivery_id } = await post('1');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries).toHaveLength(4);
    const gaps = tries.slice(1).map((at, i) => at - (tries[i] ?? 0));
    for (const [i, gap] of gaps.entries()) {
      expect(gap).toBeGreaterThanOrEqual(500 * 2 ** i);
      expect(gap).toBeLessThanOrEqual(1_000 * 2 ** i);
    }
    expect(new Set(gaps.map((gap, i) => gap / 2 ** i)).size).toBeGreaterThan(1);
    expect(kinds()).toEqual(['accepted', 'retried', 'retried', 'retried', 'delivered']);
    expect(await find(delivery_id)).toMatchObject({ status: 'done', attempts: 4, result: { n: '1' } });
    await office.close();
  });

  test('[KNOW-3] [C-ASYNC-01] what always fails is a dead letter with its cause, and the sender’s journal tells of it', async () => {
    const { post, find, events, store, office } = await open(down);
    const { delivery_id } = await post('1');
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await find(delivery_id)).toMatchObject({
      status: 'dead',
      attempts: 5,
      error: { code: 'UNAVAILABLE', message: 'down' },
    });
    expect(events.map(({ kind, code }) => [kind, code])).toEqual([
      ['accepted', undefined],
      ...Array.from({ length: 4 }, () => ['retried', 'UNAVAILABLE']),
      ['dead', 'UNAVAILABLE'],
    ]);
    const page = { workspace_id: 'a', thread_id: journalId('a', 'ed'), after: 0, limit: 9, max_bytes: 1e6 };
    expect((await store.page(page)).entries).toMatchObject([
      { type: 'delivery.dead', sender_agent_id: 'parley', metadata: { delivery_id, attempts: 5 } },
    ]);
    await office.close();
  });

  test('[C-ASYNC-02] one who is slower than the deadline is asked again; the effect is one', async () => {
    const store = openMemoryStore();
    const sample = openSampleHub(store, { now: Date.now() });
    const page = {
      document_id: '5b0c8a52-9f6e-4a55-b7a2-1d1f0c7b8a03',
      parent_id: 'root',
      content: { mime_type: 'text/plain', body: 'hello' },
      metadata: { title: 'hello' },
    };
    let calls = 0;
    const { post, find, kinds, office } = await open(
      async ({ idempotency_key }, caller) => {
        // The first one has done its work when its time runs out, and does not get to say so.
        const slow = ++calls === 1;
        const made = await sample.call(caller, 'create_document', { ...page, idempotency_key });
        if (slow) await new Promise((resolve) => setTimeout(resolve, 5_000));
        return made as object;
      },
      { store, settings: { ackDeadlineMs: 1_000 } },
    );
    const { delivery_id } = await post('1');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls).toBe(2);
    expect(kinds()).toEqual(['accepted', 'retried', 'delivered']);
    // Without the key the second one would have found the id taken, and the delivery would be dead.
    expect(await find(delivery_id)).toMatchObject({
      status: 'done',
      result: { id: page.document_id, revision: 1 },
    });
    const tree = { workspace_id: 'a', thread_id: treeId('a'), after: 0, limit: 9, max_bytes: 1e6 };
    expect((await store.page(tree)).entries.map(({ type }) => type)).toEqual(['document.created']);
    await office.close();
  });

  test('[C-ASYNC-02] what was given up and yet came to its end counts as done', async () => {
    const { post, find, kinds, office } = await open(
      () => new Promise((resolve) => setTimeout(() => resolve({ late: true }), 5_000)),
      { settings: { ackDeadlineMs: 1_000, maxAttempts: 1 } },
    );
    const { delivery_id } = await post('1');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await find(delivery_id)).toMatchObject({ status: 'dead' });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await find(delivery_id)).toMatchObject({ status: 'done', result: { late: true } });
    expect(kinds()).toEqual(['accepted', 'dead', 'delivered']);
    await office.close();
  });

  test('[KNOW-3] [C-ASYNC-04] a poison delivery at the head, and one that is tried again and again, hold up nobody', async () => {
    const done: string[] = [];
    const { post, find, office } = await open(async ({ n }) => {
      if (n === 'poison') throw new ParleyError('VALIDATION_ERROR', 'bad');
      if (n === 'stubborn') return down();
      done.push(String(n));
      return {};
    });
    const poison = await post('poison');
    const stubborn = await post('stubborn');
    for (const n of ['1', '2', '3']) await post(n);
    await vi.advanceTimersByTimeAsync(0);
    expect(done).toEqual(['1', '2', '3']);
    expect(await find(poison.delivery_id)).toMatchObject({ status: 'dead', attempts: 1 });
    expect(await find(stubborn.delivery_id)).toMatchObject({ status: 'waiting', attempts: 1 });
    await office.close();
  });

  test('[KNOW-3] [C-ASYNC-05] a redrive past its time is EXPIRED without effect; two redrives have one effect', async () => {
    let works = false;
    const done: unknown[] = [];
    const { post, find, kinds, office } = await open(async ({ n }) => {
      if (!works) throw new ParleyError('NOT_FOUND', 'no parent');
      done.push(n);
      return {};
    });
    const soon = (await post('soon', {}, 60_000)).delivery_id;
    const later = (await post('later', {}, 3_600_000)).delivery_id;
    await vi.advanceTimersByTimeAsync(0);
    works = true;
    await vi.advanceTimersByTimeAsync(61_000);
    const redrive = async (id: unknown) => {
      const kept = await find(id);
      if (kept === undefined) throw new Error('gone');
      return office.redrive(ed, kept, { key: undefined, deadline: undefined });
    };
    expect(await redrive(soon)).toMatchObject({
      redriven: false,
      status: 'dead',
      error: { code: 'EXPIRED' },
    });
    expect(await redrive(later)).toEqual({ delivery_id: later, redriven: true, status: 'waiting' });
    expect(await redrive(later)).toMatchObject({ redriven: false });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await redrive(later)).toMatchObject({ redriven: false, status: 'done' });
    expect(done).toEqual(['later']);
    expect(kinds().filter((kind) => kind === 'redriven')).toHaveLength(1);
    expect(await find(soon)).toMatchObject({ status: 'dead', error: { code: 'NOT_FOUND' } });
    await office.close();
  });

  test('[KNOW-3] what is tried again while it is about to be forgotten stays, with what it says', async () => {
    let works = false;
    const { post, find, office, store } = await open(({ n }) => (works ? Promise.resolve({ n }) : down()), {
      settings: { maxAttempts: 1 },
    });
    const posted = [await post('1', {}, 1e10), await post('2', {}, 1e10)];
    await vi.advanceTimersByTimeAsync(1_000);
    const dead = await Promise.all(posted.map(({ delivery_id }) => find(delivery_id)));
    expect(dead).toMatchObject([{ status: 'dead' }, { status: 'dead' }]);
    // A sweep has found both of them old; before it writes, one is tried again.
    const [again] = dead;
    if (again === undefined) throw new Error('not kept');
    works = true;
    const { redriven } = await office.redrive(ed, again, { key: undefined, deadline: undefined });
    expect(redriven).toBe(true);
    const { result } = await store.transact({
      type: 'forget_deliveries',
      caller: hubCaller('a'),
      now: Date.now(),
      salt: 0,
      input: {
        delivery_ids: posted.map(({ delivery_id }) => delivery_id),
        finished_before: new Date(Date.now() + 1).toISOString(),
      },
    });
    expect(result).toEqual({ forgotten: 1 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await find(posted[0]?.delivery_id)).toMatchObject({ status: 'done', result: { n: '1' } });
    expect(await find(posted[1]?.delivery_id)).toBeUndefined();
    await office.close();
  });

  test('[KNOW-3] [C-ASYNC-05] what waits longer than it is good for is dead as EXPIRED and never carried out', async () => {
    let calls = 0;
    const { post, find, office } = await open(async (_args, _caller, _signal, deadline = 0) => {
      if (deadline < Date.now()) throw new ParleyError('EXPIRED', 'too late');
      calls += 1;
      return down();
    });
    const { delivery_id } = await post('1', {}, 400);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls).toBe(1);
    expect(await find(delivery_id)).toMatchObject({ status: 'dead', error: { code: 'EXPIRED' } });
    await office.close();
  });

  test('[C-ASYNC-02] what was carried out before its hub fell is done, also when its time is over by then', async () => {
    const store = openMemoryStore();
    const first = await open(() => new Promise(() => {}), { store });
    const { delivery_id } = await first.post('1', {}, 1_000);
    await vi.advanceTimersByTimeAsync(5_000);
    // The store knows its key, and answers as it did the first time.
    const second = await open(async ({ n }) => ({ n }), { store });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await second.find(delivery_id)).toMatchObject({ status: 'done', result: { n: '1' } });
    await second.office.close();
  });

  test('[R7] what was accepted though its sender was told of an error is carried out, and its key settles it', async () => {
    const kept = openMemoryStore();
    let isLost = true;
    const store: Store = {
      ...kept,
      async transact(command) {
        const committed = await kept.transact(command);
        if (command.type !== 'accept_delivery' || !isLost) return committed;
        isLost = false;
        throw new Error('the answer was lost');
      },
    };
    const { office, kinds } = await open(async ({ n }) => ({ n }), { store });
    const posted = {
      caller: ed,
      action: 'knowledge.create_document',
      args: { n: '1' },
      idempotency_key: 'key',
      order: { context_id: 'c', seq: 1 },
      expiresAt: Date.now() + 60_000,
    } as const;
    await expect(office.accept(posted)).rejects.toThrow('the answer was lost');
    await office.accept(posted);
    await vi.advanceTimersByTimeAsync(1_000);
    const all = await kept.records({ kind: 'delivery', workspace_id: 'a', limit: 9 });
    expect(all).toMatchObject([{ status: 'done', attempts: 1 }]);
    expect(kinds()).toEqual(['delivered']);
    await office.close();
  });

  test('[R7] what was sent again though its sender was told of an error is carried out without a restart', async () => {
    const kept = openMemoryStore();
    const unanswered: Store = {
      ...kept,
      async transact(command) {
        const committed = await kept.transact(command);
        if (command.type === 'redrive_delivery') throw new ParleyError('UNAVAILABLE', 'nobody knows');
        return committed;
      },
    };
    let works = false;
    const { office, post, find } = await open(async ({ n }) => (works ? { n } : down()), {
      store: unanswered,
      settings: { maxAttempts: 1 },
    });
    const { delivery_id } = await post('1');
    await vi.advanceTimersByTimeAsync(1_000);
    const dead = await find(delivery_id);
    if (dead?.status !== 'dead') throw new Error('it is not dead');
    works = true;
    const again = office.redrive(ed, dead, { key: undefined, deadline: undefined });
    await expect(again).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await find(delivery_id)).toMatchObject({ status: 'done' });
    await office.close();
  });

  test('a delivery is carried out under its own deadline, and one that was accepted too late is not kept', async () => {
    const deadlines: unknown[] = [];
    const { office, post, store } = await open(
      async (_args, _caller, _signal, deadline) => {
        deadlines.push(deadline);
        throw new ParleyError('EXPIRED', 'too late');
      },
      { store: openMemoryStore(() => Date.now() + 1_000) },
    );
    const { delivery_id } = await post('1', {}, 5_000);
    const until = Date.now() + 5_000;
    await vi.advanceTimersByTimeAsync(0);
    expect(deadlines).toEqual([until]);
    const kept = await store.records({ kind: 'delivery', workspace_id: 'a', limit: 9 });
    expect(kept).toMatchObject([{ delivery_id, status: 'dead', attempts: 1, error: { code: 'EXPIRED' } }]);
    await expect(post('2', {}, 500)).rejects.toMatchObject({ code: 'EXPIRED' });
    expect(await store.records({ kind: 'delivery', workspace_id: 'a', limit: 9 })).toHaveLength(1);
    await office.close();
  });

  test('[KNOW-3] the same key is one delivery, a lower number is ignored, too many waiting are refused', async () => {
    const { office, store } = await open(() => new Promise(() => {}), { settings: { maxWaiting: 3 } });
    const posted = (key: string, seq: number, args = {}) =>
      office.accept({
        caller: ed,
        action: 'registry.heartbeat',
        args,
        idempotency_key: key,
        order: { context_id: 'c', seq },
        expiresAt: Date.now() + 60_000,
      });
    const first = await posted('k', 5);
    expect(await posted('k', 5)).toEqual(first);
    await expect(posted('k', 6, { other: true })).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    expect(await posted('l', 4)).toEqual({ ignored: true, last_seq: 5 });
    await posted('m', 6);
    await posted('n', 7);
    await expect(posted('o', 8)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await store.records({ kind: 'delivery', workspace_id: 'a', limit: 9 })).toHaveLength(3);
  });

  test('[KNOW-3] a quota that is used up makes the workspace rest, and costs no attempt', async () => {
    let allowed = 3;
    const { post, events, office } = await open(async () => {
      if (--allowed < 0) throw new ParleyError('RATE_LIMITED', 'slow down', { retry_after_ms: 1_000 });
      return {};
    });
    for (let i = 0; i < 50; i++) await post(`${i}`);
    const refill = setInterval(() => (allowed = 3), 1_000);
    await vi.advanceTimersByTimeAsync(60_000);
    clearInterval(refill);
    expect(events.filter(({ kind }) => kind === 'delivered')).toHaveLength(50);
    expect(events.filter(({ kind }) => kind === 'retried' || kind === 'dead')).toEqual([]);
    await office.close();
  });

  test('[KNOW-3] another process takes up what waited, in its order, and what ended long ago is forgotten', async () => {
    const store = openMemoryStore();
    const first = await open(down, { store });
    for (const n of ['1', '2', '3']) await first.post(n);
    await vi.advanceTimersByTimeAsync(0);
    await first.office.close();
    const done: unknown[] = [];
    const second = await open(
      async ({ n }) => {
        done.push(n);
        return {};
      },
      { store },
    );
    await vi.advanceTimersByTimeAsync(60_000);
    expect(new Set(done)).toEqual(new Set(['1', '2', '3']));
    const all = () => store.records({ kind: 'delivery', workspace_id: 'a', limit: 9 });
    expect(await all()).toHaveLength(3);
    expect(await store.records({ kind: 'delivery_body', workspace_id: 'a', limit: 9 })).toEqual([]);
    await vi.advanceTimersByTimeAsync(2 * 86_400_000);
    expect(await all()).toEqual([]);
    await second.office.close();
  });
});
