import { expect } from 'vitest';

import { ALL, type Check, seqs } from './scene.ts';

/** How a thread is read: in pages that chain exactly and are bounded. */
export function testPages(check: Check): void {
  check('[R4] pages chain exactly, whatever their size', async ({ say, page }) => {
    for (let i = 1; i <= 10; i++) await say(`${i}`);
    for (const limit of [1, 3, 5, 9, 10, 11]) {
      const seen: number[] = [];
      for (let after = 0, more = true; more;) {
        const run = await page(after, { limit });
        expect(run.entries.length).toBeLessThanOrEqual(limit);
        seen.push(...seqs(run));
        after = run.entries.at(-1)?.seq ?? after;
        more = run.has_more;
        expect(more).toBe(after < 10);
      }
      expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
    expect(await page(10)).toMatchObject({ entries: [], has_more: false });
    for (const beyond of [5_000, 2 ** 31, Number.MAX_SAFE_INTEGER])
      expect(await page(beyond)).toMatchObject({ entries: [], has_more: false });
    expect(await page(0, { limit: 0 })).toMatchObject({ entries: [], has_more: true });
  });

  check('[R10] a page is bounded in bytes, but never empty for that', async ({ say, page }) => {
    for (let i = 1; i <= 10; i++) await say('x'.repeat(1_000));
    const run = await page(0, { max_bytes: 4_000 });
    expect(seqs(run)).toEqual([1, 2, 3]);
    expect(run.has_more).toBe(true);
    expect(seqs(await page(3, { max_bytes: 10 }))).toEqual([4]);
  });

  check(
    'the tail is the newest entries, oldest first, and bounded in bytes',
    async ({ store, workspace_id, say, t }) => {
      for (let i = 1; i <= 10; i++) await say(`${i}`.padEnd(1_000, 'x'));
      const tail = (limit: number, max_bytes = 1e9) =>
        store.tail({ workspace_id, thread_id: t, limit, max_bytes });
      expect(seqs(await tail(3))).toEqual([8, 9, 10]);
      expect(seqs(await tail(10))).toHaveLength(10);
      expect(seqs(await tail(1_000))).toHaveLength(10);
      const cut = await tail(1_000, 4_000);
      expect(seqs(cut)).toEqual([8, 9, 10]);
      expect(cut.has_more).toBe(false);
      expect(cut.located.thread?.last_seq).toBe(10);
      expect(seqs(await tail(5, 10))).toEqual([10]);
      expect(await store.tail({ workspace_id, thread_id: 'nowhere', ...ALL })).toMatchObject({ entries: [] });
    },
  );

  check('a page may begin with the thread’s own creation', async ({ say, page }) => {
    await say('1');
    await say('2');
    expect(seqs(await page(-1))).toEqual([0, 1, 2]);
    const first = await page(-1, { limit: 1 });
    expect([seqs(first), first.has_more]).toEqual([[0], true]);
    expect(first.entries[0]?.type).toBe('thread.created');
  });
}
