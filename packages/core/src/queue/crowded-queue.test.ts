import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { DISPATCHERS, openSampleQueue } from './sample-queue.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2030-01-01T00:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(DISPATCHERS)('over %s', (_name, newDispatcher) => {
  test('[KNOW-3] [C-ASYNC-03] ten thousand of one workspace do not delay the one of another', async () => {
    const done: string[] = [];
    const { post, office } = await openSampleQueue(newDispatcher(), async ({ n }) => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      done.push(String(n));
      return {};
    });
    for (let i = 0; i < 10_000; i++) await post(`a${i}`);
    await post('b', { workspace_id: 'b' });
    const before = done.length;
    await vi.advanceTimersByTimeAsync(10);
    // Its own ten milliseconds, as if nobody else were there.
    expect(done.slice(before)).toContain('b');
    expect(done.length).toBeLessThan(100);
    await office.close();
  });
});
