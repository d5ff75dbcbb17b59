import { expect, test } from 'vitest';

import { backoffMs } from './backoff.ts';

test('[C-ASYNC-01] the wait doubles up to its bound, and half of it is chance', () => {
  const drawn: number[] = [];
  const waits = (share: number) =>
    [1, 2, 3, 4, 100].map((failures) =>
      backoffMs({ firstMs: 1_000, maxMs: 6_000 }, failures, {
        bytes: (count) => new Uint8Array(count),
        below(bound) {
          drawn.push(bound);
          return Math.floor(share * bound);
        },
      }),
    );
  expect(waits(0)).toEqual([500, 1_000, 2_000, 3_000, 3_000]);
  expect(waits(0.5)).toEqual([750, 1_500, 3_000, 4_500, 4_500]);
  expect(Math.min(...drawn)).toBeGreaterThan(100);
});
