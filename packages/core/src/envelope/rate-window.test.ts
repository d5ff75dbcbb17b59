import { expect, test } from 'vitest';

import { createRateWindow } from './rate-window.ts';

test('[C-ENV-24] who waits exactly as long as told is served, and not a moment sooner', () => {
  let now = 1_000;
  const { spend } = createRateWindow(3, () => now);
  expect([1, 2, 3].map(() => spend('a').remaining)).toEqual([2, 1, 0]);
  now += 20_000;
  const refused = spend('a');
  expect(refused).toEqual({ limit: 3, remaining: 0, waitMs: 40_000, begun: 1_000 });
  now += refused.waitMs - 1;
  expect(spend('a').waitMs).toBe(1);
  now += 1;
  expect(spend('a')).toEqual({ limit: 3, remaining: 2, waitMs: 0, begun: 61_000 });
  expect(spend('b').remaining).toBe(2);
});

test('what was given back can be used again, and no more than that', () => {
  let now = 1_000;
  const { spend, giveBack } = createRateWindow(2, () => now);
  const granted = spend('a');
  expect([granted.remaining, spend('a').remaining]).toEqual([1, 0]);
  expect(giveBack('a', granted)).toEqual({ limit: 2, remaining: 1, waitMs: 0, begun: 1_000 });
  expect([spend('a').waitMs, spend('a').waitMs]).toEqual([0, 60_000]);
  now += 60_000;
  expect(spend('a').remaining).toBe(1);
  // What was granted a minute ago is not given back to this one.
  expect(giveBack('a', granted).remaining).toBe(1);
  expect([1, 2].map(() => spend('a').waitMs === 0)).toEqual([true, false]);
});

test('what is spent at other nodes counts, and what they give back can be used here', () => {
  const { spend, charge } = createRateWindow(3, () => 1_000);
  charge('a', 2);
  expect(spend('a').remaining).toBe(0);
  charge('a', -1);
  expect(spend('a')).toMatchObject({ remaining: 0, waitMs: 0 });
  // More than was spent is never given back.
  charge('b', -5);
  expect([1, 2, 3, 4].map(() => spend('b').waitMs === 0)).toEqual([true, true, true, false]);
});
