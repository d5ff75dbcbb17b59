import { expect, test } from 'vitest';

import { KnownList } from './known-list.ts';
import { KnownLists } from './known-lists.ts';

const branch = (document_id: string) => ({ document_id, order: '1' });
const row = (key: string) => ({ key, value: branch(key), owner: '' });

test('a change reaches the lists whose prefix its key has, of its kind and workspace, and no other', () => {
  const lists = new KnownLists();
  const add = (workspace_id: string, prefix: string | undefined): void => {
    const asked = { kind: 'branch', ...(prefix === undefined ? {} : { prefix }) } as const;
    lists.set(`${workspace_id} ${prefix}`, { workspace_id, asked, known: new KnownList(asked, []) });
  };
  for (const prefix of [undefined, 'a ', 'ab ', 'b ']) add('w1', prefix);
  add('w2', 'a ');
  const put = (key: string): void => lists.change('branch', 'w1', key, (list) => list.put(row(key)));
  for (const key of ['a 1', 'ab 1', 'a']) put(key);
  lists.change('document', 'w1', 'a 2', () => expect.fail('it is of another kind'));
  const keysOf = (name: string) => lists.get(name)?.values;
  expect(keysOf('w1 undefined')).toEqual(['a', 'a 1', 'ab 1'].map(branch));
  expect(keysOf('w1 a ')).toEqual([branch('a 1')]);
  expect(keysOf('w1 ab ')).toEqual([branch('ab 1')]);
  expect([keysOf('w1 b '), keysOf('w2 a ')]).toEqual([[], []]);
});

test('a list that does not know its rows any more is asked for anew', () => {
  const lists = new KnownLists();
  const asked = { kind: 'branch', prefix: 'a ', limit: 1 } as const;
  const open = (): void =>
    lists.set('l', { workspace_id: 'w1', asked, known: new KnownList(asked, [row('a 1')]) });
  open();
  lists.change('branch', 'w1', 'a 1', (list) => list.drop('a 1'));
  expect(lists.has('l')).toBe(false);
  open();
  lists.change('branch', 'w1', 'a 0', (list) => list.put(row('a 0')));
  expect(lists.get('l')?.values).toEqual([branch('a 0')]);
});
