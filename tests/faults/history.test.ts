import { expect, test } from 'vitest';

import { expectLinearizable } from './history.ts';

const appends = [
  { seq: 1, from: 0, to: 10 },
  { seq: 2, from: 5, to: 20 },
  { seq: 3, from: 25, to: 30 },
];

test('the history checker accepts posts and reads that overlap as they may', () => {
  const reads = [
    { last: 0, from: 0, to: 6 },
    { last: 2, from: 6, to: 21 },
    { last: 2, from: 22, to: 26 },
    { last: 3, from: 31, to: 32 },
  ];
  expect(() => expectLinearizable(appends, reads)).not.toThrow();
});

test.each([
  ['a post that stands before one that had been answered', [...appends, { seq: 4, from: 11, to: 12 }], []],
  ['a read that misses what was answered before it', appends, [{ last: 1, from: 21, to: 22 }]],
  ['a read of what was not sent yet', appends, [{ last: 3, from: 6, to: 24 }]],
  [
    'a read that sees less than one before it',
    appends,
    [
      { last: 2, from: 6, to: 7 },
      { last: 1, from: 8, to: 9 },
    ],
  ],
])('the history checker finds %s', (_what, posts, reads) => {
  expect(() => expectLinearizable(posts, reads)).toThrow();
});
