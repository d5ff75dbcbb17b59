import { expect, test } from 'vitest';

import { readAll } from './read-all.ts';

const all = Array.from({ length: 450 }, (_, i) => `n${String(i).padStart(3, '0')}`);
const list = ({ limit, after = '' }: { limit: number; after?: string }) => {
  const items = all.filter((name) => name > after).slice(0, limit);
  const last = items.at(-1);
  return Promise.resolve({ items, next_after: last === undefined || last === all.at(-1) ? null : last });
};

test('a list is read to its end, over as many pages as that takes, or as far as is wanted', async () => {
  expect(await readAll(list, (page) => page.items)).toEqual(all);
  expect(await readAll(list, (page) => page.items, 300)).toEqual(all.slice(0, 400));
});

test('a page that is empty and yet has more after it does not end the list', async () => {
  const pages = [['a'], [], ['b']];
  const found = await readAll(
    ({ after = '0' }) =>
      Promise.resolve({
        items: pages[Number(after)] ?? [],
        next_after: after === '2' ? null : `${Number(after) + 1}`,
      }),
    (page) => page.items,
  );
  expect(found).toEqual(['a', 'b']);
});
