import { expect, test, vi } from 'vitest';

import { createSteps, progressWords } from './progress.ts';

test('how far, how fast, how long', () => {
  expect(progressWords(1_200, 5_000, 1_200, 2_000)).toBe('1200 of 5000 (24 %), 600/s, 6 s left');
  expect(progressWords(3, 100, 3, 2_000)).toBe('3 of 100 (3 %), 1.5/s, 1 min left');
  // What was there before is not of this run's speed.
  expect(progressWords(900, 1_000, 100, 1_000)).toBe('900 of 1000 (90 %), 100/s, 1 s left');
  expect(progressWords(5, 5, 5, 1_000)).toBe('5 of 5 (100 %), 5.0/s');
  expect(progressWords(7, 0, 7, 1_000)).toBe('7, 7.0/s');
  // Before anything is done there is no speed to tell of.
  expect(progressWords(1, 50, 0, 0)).toBe('1 of 50 (2 %)');
});

test('each step of a work has a line of its own, and counts from its own beginning', () => {
  const written: string[] = [];
  const { isTTY } = process.stderr;
  const write = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => written.push(String(text)) > 0);
  const now = vi.spyOn(Date, 'now');
  try {
    process.stderr.isTTY = true;
    const steps = createSteps({ log: 'moved', check: 'checked' });
    const at = (ms: number, step: 'log' | 'check', done: number): void => {
      now.mockReturnValue(ms);
      steps.reached({ step, done, all: 100 });
    };
    at(0, 'log', 10);
    at(1_000, 'log', 100);
    at(1_000, 'check', 1);
    at(2_000, 'check', 50);
    steps.end();
  } finally {
    process.stderr.isTTY = isTTY;
    write.mockRestore();
    now.mockRestore();
  }
  expect(written).toEqual([
    '\rmoved 100 of 100 (100 %), 90/s\u001b[K',
    '\r\u001b[K',
    '\rchecked 50 of 100 (50 %), 49/s, 1 s left\u001b[K',
    '\r\u001b[K',
  ]);
});
