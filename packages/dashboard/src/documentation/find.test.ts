import { expect, test } from 'vitest';

import { find, type Passage } from './find.ts';

const PASSAGES: Passage[] = [
  ['/docs/operations', 'Operations', '', 'Everything is in one folder.'],
  ['/docs/operations#backup', 'Operations', 'Backup', 'copies the record of one moment'],
  ['/docs/how-to/back-up', 'Back up and restore', '', 'backup copies the record while the hub runs'],
  ['/docs/decisions/0001', 'SQLite', '', 'a backup of the record'],
];
const addresses = (asked: string): string[] => find(PASSAGES, asked).map(({ address }) => address);

test('all words must be there, and headings count most', () => {
  expect(addresses('backup record')).toEqual([
    '/docs/operations#backup',
    '/docs/how-to/back-up',
    '/docs/decisions/0001',
  ]);
  expect(addresses('backup moment')).toEqual(['/docs/operations#backup']);
  expect(addresses('backup tablet')).toEqual([]);
  expect(addresses('  ')).toEqual([]);
});

test('a word is found by its beginning and not by its middle, in any case', () => {
  expect(addresses('REST')).toEqual(['/docs/how-to/back-up']);
  expect(addresses('ackup')).toEqual([]);
});

test('the words around the first one are shown', () => {
  const long: Passage = ['/docs/x', 'X', '', `${'word '.repeat(50)}needle${' more'.repeat(50)}`];
  const [{ text } = { text: '' }] = find([long], 'needle');
  expect(text).toMatch(/^… .*needle.* …$/);
  expect(text.length).toBeLessThan(200);
});
