import { expect, test } from 'vitest';

import { filesOf } from './diff-files.ts';
import { partsOf } from './text-parts.ts';

const DIFF = `diff --git a/src/mapper.ts b/src/mapper.ts
index 1234567..89abcde 100644
--- a/src/mapper.ts
+++ b/src/mapper.ts
@@ -10,3 +10,4 @@ function map() {
 const a = 1;
-const b = 2;
+const b = 3;
+const c = 4;
 return a;`;

test('an unfenced diff is a part of its own, between the words', () => {
  const text = `Look at this:\n\n${DIFF}\n\nIs it right?`;
  expect(partsOf(text)).toEqual([
    { kind: 'words', text: 'Look at this:' },
    { kind: 'diff', text: DIFF },
    { kind: 'words', text: 'Is it right?' },
  ]);
});

test('a fenced diff is one too, and other fences stay words, also with lines that look like a diff', () => {
  expect(partsOf(`\`\`\`diff\n-a\n+b\n\`\`\`\nAfter`)).toEqual([
    { kind: 'diff', text: '-a\n+b' },
    { kind: 'words', text: 'After' },
  ]);
  const code = '```sh\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n```';
  expect(partsOf(code)).toEqual([{ kind: 'words', text: code }]);
});

test.each([
  '- a list\n- of things',
  'a\n---\nb',
  '--- a/x is a file',
  '+1',
  'x -- y',
  '```diff\nnothing\n```',
])('no diff: %s', (text) => {
  expect(partsOf(text)).toEqual([{ kind: 'words', text }]);
});

test.each([
  [
    '--- old.ts\t2026-11-01\n+++ new.ts\t2026-11-02\n@@ -1 +1 @@\n-a\n+b',
    'of two names, as `diff -u` tells it',
  ],
  ['@@ -4,2 +4,2 @@ fn main\n a\n-b\n+c', 'of one hunk'],
  ['@@ -1,9 +1,9 @@\n a\n-b\n+c', 'whose lines were counted wrong'],
  ['@@ -1,3 +1,3 @@\n a\n\n-b\n+c', 'with an empty line inside it'],
  [
    '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file',
    'without an end of line',
  ],
  ['diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y', 'of a name alone'],
])('%j is a diff %s', (diff) => {
  expect(partsOf(`Here:\n${diff}\n\nAnd *so*.`)).toEqual([
    { kind: 'words', text: 'Here:' },
    { kind: 'diff', text: diff },
    { kind: 'words', text: 'And *so*.' },
  ]);
});

test('remarks below a diff are no lines of it', () => {
  const remarks = '- first remark\n- second remark\n\n+ and a third';
  expect(partsOf(`${DIFF}\n\n${remarks}`)).toEqual([
    { kind: 'diff', text: DIFF },
    { kind: 'words', text: remarks },
  ]);
});

test('a line that goes may begin like the name of a file', () => {
  const text = `--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,2 @@\n select 1;\n--- a/comment that goes\n select 2;`;
  expect(filesOf(text)).toMatchObject([{ name: 'q.sql', hunks: [{ lines: [{}, { mark: '-' }, {}] }] }]);
});

test('each line knows its place before and after', () => {
  const [file] = filesOf(DIFF);
  expect(file).toMatchObject({ name: 'src/mapper.ts', hunks: [{ head: 'function map() {' }] });
  expect(file?.hunks[0]?.lines.map(({ mark, old, fresh }) => [mark, old, fresh])).toEqual([
    [' ', 10, 10],
    ['-', 11, undefined],
    ['+', undefined, 11],
    ['+', undefined, 12],
    [' ', 12, 13],
  ]);
  const two = `--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-c\n+d`;
  expect(filesOf(two).map(({ name }) => name)).toEqual(['one', 'two']);
});

test('changes without a name are of one file of no name', () => {
  expect(filesOf('-a\n+b')).toMatchObject([
    {
      name: '',
      hunks: [
        {
          lines: [
            { mark: '-', text: 'a' },
            { mark: '+', text: 'b' },
          ],
        },
      ],
    },
  ]);
});
