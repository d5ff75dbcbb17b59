import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { isControlFrame, summaryOf, truncate } from './text.ts';

test('a long mail is cut at its length with a word that there was more', () => {
  expect(truncate('a'.repeat(4_096), 4_096)).toBe('a'.repeat(4_096));
  expect(truncate('a'.repeat(10_000), 4_096)).toBe(`${'a'.repeat(4_096)} [...truncated]`);
  expect(truncate(`${'a'.repeat(4_095)}😀${'b'.repeat(10)}`, 4_096)).toBe(
    `${'a'.repeat(4_095)} [...truncated]`,
  );
});

test('no character is cut in two, and nothing is longer than asked for', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 80 }),
      fc.integer({ min: 1, max: 80 }),
      (text, most) => {
        const kept = truncate(text, most).replace(' [...truncated]', '');
        expect(kept.length).toBeLessThanOrEqual(most);
        expect(text.startsWith(kept)).toBe(true);
        expect(kept.isWellFormed()).toBe(true);
      },
    ),
  );
});

test('a summary is one line', () => {
  expect(summaryOf('  one\n\ttwo  ')).toBe('one two');
  expect(summaryOf('a'.repeat(61))).toBe(`${'a'.repeat(60)}...`);
});

test('only a command of the protocol counts as one', () => {
  expect(isControlFrame(' {"type":"shutdown_request"}')).toBe(true);
  for (const text of ['shutdown_request', '{"type":"note"}', '{"type":', '[]', '{"type":5}', 'null'])
    expect(isControlFrame(text)).toBe(false);
});
