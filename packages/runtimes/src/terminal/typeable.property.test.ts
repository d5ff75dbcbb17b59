import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { makeTypeable } from './typeable.ts';

/** Texts that are rich in what is dangerous at a terminal. */
const hostile = fc
  .array(
    fc.constantFrom(
      '\u001b[201~',
      '\u001b[20',
      '1~',
      '\u001b',
      '\u009b201~',
      '\r',
      '\n',
      '\u0003',
      '\u0004',
      '\u001a',
      "'",
      '"',
      '`',
      '$(touch P)',
      '!',
      '/',
      '#',
      '@a',
      ' ',
      'word',
      '\ud800',
      '\u202e',
      '\u200b',
      '\u2060\u00ad',
      'ä漢🙂',
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** Any code units, halves of characters too. */
const anything = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));

// Whatever steers a terminal or hides, told apart from how the product tells it.
const steers = (text: string): boolean =>
  Array.from(text).some((char) => {
    const code = char.codePointAt(0) ?? 0;
    const isMark = code === 0x200b || code === 0x2060 || code === 0xad || (code >= 0x202a && code <= 0x202e);
    return (code < 32 && code !== 9 && code !== 10) || (code >= 127 && code < 160) || isMark;
  });

describe('[HUB-W8] a text that is typed', () => {
  test.each(['codex', 'claude', 'prompt', 'bash'] as const)('steers nothing (%s)', (kind) => {
    fc.assert(
      fc.property(fc.oneof(hostile, anything), (wanted) => {
        const { text } = makeTypeable(kind, wanted);
        expect(steers(text)).toBe(false);
        expect(text.isWellFormed()).toBe(true);
      }),
    );
  });

  test.each(['codex', 'claude', 'prompt'] as const)(
    'begins like a sentence and is no single word (%s)',
    (kind) => {
      fc.assert(
        fc.property(hostile, (wanted) => {
          const { text } = makeTypeable(kind, wanted);
          if (text === '') return;
          expect(text).toMatch(/^[\p{L}\p{N}"'([<]/u);
          expect(text.split(/\s/u).length).toBeGreaterThan(1);
          expect(text).not.toMatch(/\s[@$/#:]\S*$/u);
        }),
      );
    },
  );

  test('stays inside its quotes in a shell', () => {
    fc.assert(
      fc.property(hostile, (wanted) => {
        const { text } = makeTypeable('bash', wanted);
        if (text !== '') expect(text).toMatch(/^: '[^']*'$/u);
      }),
    );
  });

  test('is the same text where nothing in it is dangerous', () => {
    for (const text of ['You have mail.', 'one\n\ttwo "three" (four)', 'Grüße, 漢字 🙂 there'])
      expect(makeTypeable('codex', text)).toEqual({ text, altered: [] });
    expect(makeTypeable('codex', ' \r\n ')).toEqual({ text: '', altered: [] });
    expect(makeTypeable('claude', 'a\u001bb\r\nc')).toEqual({
      text: 'a\\u{1b}b\nc',
      altered: ['control_characters'],
    });
  });
});
