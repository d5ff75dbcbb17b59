import { expect, test } from 'vitest';

import { createFeed } from './feed.ts';

const never = new AbortController().signal;

test('a ring before and during the wait both end it; the highest position counts', async () => {
  const feed = createFeed();
  const bell = feed.subscribe('t1');
  feed.announce('t1', 3);
  feed.announce('t1', 2);
  expect(bell.head).toBe(3);
  await bell.next(2, never);
  const waiting = bell.next(3, never);
  feed.announce('t1', 3);
  feed.announce('t2', 9);
  let woken = false;
  void waiting.then(() => (woken = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(woken).toBe(false);
  feed.announce('t1', 4);
  await waiting;
  expect(bell.head).toBe(4);
});

test('a wait ends with its signal, and leaves no listener on it', async () => {
  const feed = createFeed();
  const bell = feed.subscribe('t1');
  const ending = new AbortController();
  const waiting = bell.next(0, ending.signal);
  ending.abort();
  await waiting;
  await bell.next(0, ending.signal);
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
