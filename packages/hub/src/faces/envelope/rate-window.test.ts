import { expect, test } from 'vitest';

import { createRateWindow } from './rate-window.ts';

test('[C-ENV-24] who waits exactly as long as told is served, and not a moment sooner', () => {
  let now = 1_000;
  const spend = createRateWindow(3, () => now);
  expect([1, 2, 3].map(() => spend('a').remaining)).toEqual([2, 1, 0]);
  now += 20_000;
  const refused = spend('a');
  expect(refused).toEqual({ limit: 3, remaining: 0, waitMs: 40_000 });
  now += refused.waitMs - 1;
  expect(spend('a').waitMs).toBe(1);
  now += 1;
  expect(spend('a')).toEqual({ limit: 3, remaining: 2, waitMs: 0 });
  expect(spend('b').remaining).toBe(2);
});
