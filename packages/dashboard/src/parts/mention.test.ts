import { expect, test } from 'vitest';

import { mentionAt, namesFor, withMention } from './mention.ts';

/** The text before the bar, with the caret where it stands. */
function at(marked: string) {
  const caret = marked.indexOf('|');
  return mentionAt(marked.replace('|', ''), caret);
}

test.each([
  ['@|', ''],
  ['@co|', 'co'],
  ['Thanks @co| for that', 'co'],
  ['(@co|', 'co'],
  ['one\n@co|\ntwo', 'co'],
  ['ask @co|dex now', 'co'],
])('a name is being written: %s', (marked, word) => {
  expect(at(marked)?.word).toBe(word);
});

test.each(['a@b|', 'kim@example.org|', 'no name|', '@co now|', 'x.@y|'])('no name: %s', (marked) => {
  expect(at(marked)).toBeUndefined();
});

test.each([
  ['Thanks @co| for that', 'Thanks @codex-1 for that', 16],
  ['@co|', '@codex-1 ', 9],
  ['(@co|)', '(@codex-1)', 9],
  ['ask @co|dex now', 'ask @codex-1 now', 13],
])('a name is put in where it was begun: %s', (marked, text, caret) => {
  const mention = at(marked);
  expect(mention).toBeDefined();
  if (mention === undefined) return;
  expect(withMention(marked.replace('|', ''), mention, 'codex-1')).toEqual({ text, caret });
});

test('names that begin so come before those that have it somewhere', () => {
  expect(namesFor('co', ['decoder', 'codex', 'claude'], 6)).toEqual(['codex', 'decoder']);
});
