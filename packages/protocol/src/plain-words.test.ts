import { expect, test } from 'vitest';

import { plainWords } from './plain-words.ts';

test.each([
  ['**bold** and `code`', 'bold and code'],
  ['**bold with `code`** and ***both***', 'bold with code and both'],
  ['**bold\nover lines**', 'bold over lines'],
  ['# Title\n\n- one\n- [x] two', 'Title one two'],
  ['Intro\n\n## Head\n- a\n- b\n\n> said\n> so', 'Intro Head a b said so'],
  ['1. one\n2. [ ] two', '1. one 2. two'],
  ['| a | b |\n|---|--:|\n| 1 | 2 |', 'a b 1 2'],
  ['| a | b |\n| :-- | -: |\n| 1 | 2 |', 'a b 1 2'],
  ['Title\n=====\nwords\n***\nmore', 'Title words more'],
  ['[a link](https://x.test/(y)) ![p](artifact:art_1) <https://x.test>', 'a link p https://x.test'],
  ['snake_case_name and 2 * 3 * 4, ls | wc', 'snake_case_name and 2 * 3 * 4, ls | wc'],
  [String.raw`2 \* 3 \_x\_ \# y`, '2 * 3 _x_ # y'],
  ['call `__init__`, match `**/*.ts`', 'call __init__, match **/*.ts'],
  ['```sh\n# first\nls | wc **\n```\nafter', '# first ls | wc ** after'],
  ['~~~\nnever closed', 'never closed'],
  [
    'diff --git a/x.ts b/x.ts\nindex 12ab..34cd 100644\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-a\n+b',
    'x.ts -a +b',
  ],
])('%j reads without its marks', (text, plain) => {
  expect(plainWords(text)).toBe(plain);
});

test('where there is room for lines they stay', () => {
  expect(plainWords('# Head\n\n**a**\nb\n', 'lines')).toBe('Head\n\na\nb');
});

test('signs that stand for what was put aside are nothing when somebody writes them', () => {
  expect(plainWords('\uE0007\uE001 `x`')).toBe('\uE0007\uE001 x');
});

test.each(['__a ', '~~a ', '[', '[a', '`a ', '*a ', '**a\n', '| ', '```\n', '> '])(
  'of any number of %j the beginning is read',
  (mark) => {
    const plain = plainWords(mark.repeat(50_000));
    expect(plain).toBe(plainWords(mark.repeat(50_000).slice(0, 4_000)));
    expect(plain.length).toBeLessThanOrEqual(4_000);
  },
);

test('a mark that is never closed within a few lines is a sign like others', () => {
  expect(plainWords(`**${'word '.repeat(20)}end**`)).toBe(`${'word '.repeat(20)}end`);
  expect(plainWords(`**${'word '.repeat(200)}end**`)).toMatch(/^\*\*word/);
});
