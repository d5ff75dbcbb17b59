import { expect, test, vi } from 'vitest';

import { createFeed } from './feed.ts';

const never = new AbortController().signal;

test('a ring before and during the wait both end it; the highest position counts', async () => {
  const feed = createFeed();
  const subscription = feed.subscribe('t1');
  feed.announce('t1', 3);
  feed.announce('t1', 2);
  expect(subscription.head).toBe(3);
  await subscription.next(2, never);
  const waiting = subscription.next(3, never);
  feed.announce('t1', 3);
  feed.announce('t2', 9);
  let woken = false;
  void waiting.then(() => (woken = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(woken).toBe(false);
  feed.announce('t1', 4);
  await waiting;
  expect(subscription.head).toBe(4);
});

test('a wait ends with its signal, and however it ends it leaves no listener on it', async () => {
  const feed = createFeed();
  const subscription = feed.subscribe('t1');
  const ending = new AbortController();
  const added = vi.spyOn(ending.signal, 'addEventListener');
  const removed = vi.spyOn(ending.signal, 'removeEventListener');
  const listeners = (): number => {
    const gone = new Set(removed.mock.calls.map(([, listener]) => listener));
    return added.mock.calls.filter(([, listener]) => !gone.has(listener)).length;
  };
  for (let seq = 1; seq <= 20; seq++) {
    const waiting = subscription.next(seq - 1, ending.signal);
    expect(listeners()).toBe(1);
    feed.announce('t1', seq);
    await waiting;
    expect(listeners()).toBe(0);
  }
  const waiting = subscription.next(20, ending.signal);
  ending.abort();
  await waiting;
  expect(listeners()).toBe(0);
  await subscription.next(20, ending.signal);
  expect(listeners()).toBe(0);
});

test('who watches hears of rings as well, each name once', async () => {
  const feed = createFeed();
  const watch = feed.watch('agents ');
  feed.ring('agents w1');
  feed.ring('agents w1');
  feed.ringHere('agents w2');
  feed.ring('channels');
  await watch.next(new AbortController().signal);
  expect([...watch.take().keys()]).toEqual(['w1', 'w2']);
  watch.close();
});

test('[R6] who watches takes each name once, with how far it has come, and waits for more', async () => {
  const feed = createFeed();
  const watch = feed.watch('workspace ');
  const { signal } = new AbortController();
  for (const [topic, pos] of [
    ['workspace a', 1],
    ['tree a', 9],
    ['workspace b', 5],
    ['workspace a', 3],
    ['workspace a', 2],
  ] as const)
    feed.announce(topic, pos);
  await watch.next(signal);
  expect([...watch.take()]).toEqual([
    ['a', 3],
    ['b', 5],
  ]);
  expect(watch.take().size).toBe(0);
  const order: string[] = [];
  const waiting = watch.next(signal).then(() => order.push('woken'));
  await Promise.resolve();
  order.push('announced');
  // A lower number than before is news as well: what was taken is forgotten.
  feed.announce('workspace b', 1);
  await waiting;
  expect(order).toEqual(['announced', 'woken']);
  expect([...watch.take()]).toEqual([['b', 1]]);
  watch.close();
  feed.announce('workspace b', 6);
  expect(watch.take().size).toBe(0);
});

test('every subscriber hears; one that left does not', async () => {
  const feed = createFeed();
  const [stays, leaves] = [feed.subscribe('t1'), feed.subscribe('t1')];
  leaves.close();
  feed.announce('t1', 1);
  expect([stays.head, leaves.head]).toEqual([1, 0]);
  stays.close();
  const later = feed.subscribe('t1');
  feed.announce('t1', 2);
  expect([stays.head, later.head]).toEqual([1, 2]);
});

test('a bell that has no position is heard once for all rings since the last time, by everybody who listens', async () => {
  const feed = createFeed();
  const [one, other] = [feed.listen('agents w'), feed.listen('agents w')];
  feed.ring('agents w');
  feed.ring('agents w');
  await Promise.all([one.next(never), other.next(never)]);
  let woken = 0;
  const waiting = one.next(never).then(() => (woken += 1));
  feed.ring('agents v');
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(woken).toBe(0);
  other.close();
  feed.ring('agents w');
  await waiting;
  expect(woken).toBe(1);
  const ending = new AbortController();
  ending.abort();
  await other.next(ending.signal);
});
