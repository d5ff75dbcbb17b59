import { expect, test, vi } from 'vitest';

import { createSweeper } from './sweeper.ts';

test('it sweeps at once and again, one sweep after the other, whatever comes of them, until it is closed', async () => {
  vi.useFakeTimers();
  const faults: unknown[] = [];
  let begun = 0;
  let under = 0;
  let end: () => void = () => {};
  const sweeper = createSweeper(
    async (closing) => {
      begun++;
      expect(++under).toBe(1);
      if (begun === 2) await new Promise<void>((resolve) => (end = resolve));
      under--;
      if (begun === 1) throw new Error('once');
      expect(closing.aborted).toBe(false);
    },
    { everyMs: 1_000, onFault: (error) => faults.push(error) },
  );
  await sweeper.start();
  expect(begun).toBe(1);
  expect(faults).toEqual([new Error('once')]);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(begun).toBe(2);
  const joined = sweeper.sweep();
  end();
  await joined;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toBe(3);
  sweeper.close();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(begun).toBe(3);
  vi.useRealTimers();
});
