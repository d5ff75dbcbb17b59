import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { sentencesOf } from './sentences.ts';

const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });
const asUnicodeSays = (text: string) =>
  [...segmenter.segment(text)].map(({ segment, index }) => ({ segment, index }));
const asFound = (text: string) => sentencesOf(text).map(({ segment, index }) => ({ segment, index }));

test('a text has the sentences that Unicode says, whatever it is made of', () => {
  const unit = fc.oneof(
    fc.constantFrom(
      'a',
      'B',
      ' ',
      '.',
      '?',
      '!',
      '。',
      '।',
      '…',
      '\r',
      '\n',
      '\u2028',
      '"',
      ')',
      '1',
      ',',
      '́',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 12 }), (units) => {
      expect(asFound(units.join(''))).toEqual(asUnicodeSays(units.join('')));
    }),
    { numRuns: 2_000 },
  );
});

test('no other letter ends a sentence: a text of all that are left is one', () => {
  const left = Array.from({ length: 0x110000 }, (_, code) => code)
    .filter(
      (code) =>
        (code < 0xd800 || code >= 0xe000) && sentencesOf(`a${String.fromCodePoint(code)} B`).length === 1,
    )
    .map((code) => `a${String.fromCodePoint(code)} B `);
  expect(left.length).toBeGreaterThan(1_000_000);
  for (let i = 0; i < left.length; i += 1_000) {
    const text = left.slice(i, i + 1_000).join('');
    expect(asUnicodeSays(text)).toEqual([{ segment: text, index: 0 }]);
  }
});
