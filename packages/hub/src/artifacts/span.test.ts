import { expect, test } from 'vitest';

import { spanOf } from './span.ts';

test.each([
  [undefined, 10, undefined],
  ['bytes=0-0', 10, { first: 0, last: 0 }],
  ['bytes=2-5', 10, { first: 2, last: 5 }],
  ['bytes=2-', 10, { first: 2, last: 9 }],
  ['bytes=2-99', 10, { first: 2, last: 9 }],
  ['bytes=-3', 10, { first: 7, last: 9 }],
  ['bytes=-99', 10, { first: 0, last: 9 }],
  ['bytes=10-', 10, 'none'],
  ['bytes=-0', 10, 'none'],
  ['bytes=0-', 0, 'none'],
  ['bytes=5-2', 10, undefined],
  ['bytes=-', 10, undefined],
  ['bytes=0-1,4-5', 10, undefined],
  ['items=0-1', 10, undefined],
] as const)('[KNOW-12] %s of %d bytes', (header, bytes, span) => {
  expect(spanOf(header, bytes)).toEqual(span);
});
