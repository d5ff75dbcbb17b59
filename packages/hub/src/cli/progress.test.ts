import { expect, test } from 'vitest';

import { progressWords } from './progress.ts';

test('how far, how fast, how long', () => {
  expect(progressWords(1_200, 5_000, 1_200, 2_000)).toBe('1200 of 5000 (24 %), 600/s, 6 s left');
  expect(progressWords(3, 100, 3, 2_000)).toBe('3 of 100 (3 %), 1.5/s, 1 min left');
  // What was there before is not of this run's speed.
  expect(progressWords(900, 1_000, 100, 1_000)).toBe('900 of 1000 (90 %), 100/s, 1 s left');
  expect(progressWords(5, 5, 5, 1_000)).toBe('5 of 5 (100 %), 5.0/s');
  expect(progressWords(7, 0, 7, 1_000)).toBe('7, 7.0/s');
});
