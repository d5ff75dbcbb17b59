import { expect, test } from 'vitest';

import { createSoon } from './soon.ts';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('it is done once for all that ask within its time, and is not put off by them', async () => {
  const soon = createSoon(100);
  const done: number[] = [];
  for (let i = 0; i < 40; i++) {
    soon.ask(() => done.push(i));
    await sleep(20);
  }
  expect(done.length).toBeGreaterThan(1);
  expect(done.length).toBeLessThan(12);
  soon.ask(() => done.push(40));
  soon.stop();
  const count = done.length;
  await sleep(150);
  expect(done).toHaveLength(count);
});
