import { expect, test } from 'vitest';

import type { CountQuery, Store } from '../store.ts';
import { countAllThreads } from './count-all.ts';

const query = { workspace_id: 'w', participant: undefined, reader: 'ann' };

/** A store of so many open threads, each third of them unread, and what it was asked. */
function storeOf(many: number): { store: Pick<Store, 'countThreads'>; asked: CountQuery[] } {
  const asked: CountQuery[] = [];
  const store: Pick<Store, 'countThreads'> = {
    async countThreads(page) {
      asked.push(page);
      const begin = Number(page.past ?? 0);
      const end = Math.min(many, begin + page.limit);
      const unread = Math.floor(end / 3) - Math.floor(begin / 3);
      const counts = { open: end - begin, unread, blocked: 1, done: 2 };
      return { counts, next: end < many ? String(end) : undefined };
    },
  };
  return { store, asked };
}

test('threads are counted by pages, and no page is of more than a thousand', async () => {
  const { store, asked } = storeOf(2_500);
  expect(await countAllThreads(store, query)).toEqual({
    open: 2_500,
    unread: 833,
    blocked: 3,
    done: 6,
    complete: true,
  });
  expect(asked.map(({ past, limit }) => [past, limit])).toEqual([
    [undefined, 1_000],
    ['1000', 1_000],
    ['2000', 1_000],
  ]);
});

test('ten thousand are counted in full, and of more it is said that there are more', async () => {
  expect(await countAllThreads(storeOf(10_000).store, query)).toMatchObject({ open: 10_000, complete: true });
  const { store, asked } = storeOf(1_000_000);
  expect(await countAllThreads(store, query)).toMatchObject({ open: 10_000, complete: false });
  expect(asked).toHaveLength(10);
});
