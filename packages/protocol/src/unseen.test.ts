import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { logJson, redact } from './log-json.ts';
import { seenJson, showUnseen, showUnseenLine } from './unseen.ts';

/** From the first to the last of each kind, told apart from how the product tells them. */
const KINDS: readonly (readonly [
  kind: string,
  ranges: readonly (readonly [first: number, last: number])[],
])[] = [
  [
    'controls',
    [
      [0x00, 0x08],
      [0x0b, 0x1f],
      [0x7f, 0x9f],
    ],
  ],
  [
    'soft hyphen and grapheme joiner',
    [
      [0xad, 0xad],
      [0x34f, 0x34f],
    ],
  ],
  [
    'zero-width',
    [
      [0x200b, 0x200d],
      [0xfeff, 0xfeff],
    ],
  ],
  ['word joiner and invisible operators', [[0x2060, 0x2064]]],
  [
    'direction marks',
    [
      [0x61c, 0x61c],
      [0x200e, 0x200f],
      [0x202a, 0x202e],
      [0x2066, 0x2069],
    ],
  ],
  ['separators of lines and paragraphs', [[0x2028, 0x2029]]],
  ['old format characters', [[0x206a, 0x206f]]],
  ['tags', [[0xe0000, 0xe007f]]],
  [
    'variation selectors',
    [
      [0xfe00, 0xfe0f],
      [0xe0100, 0xe01ef],
      [0x180b, 0x180f],
    ],
  ],
  [
    'fillers',
    [
      [0x115f, 0x1160],
      [0x3164, 0x3164],
      [0xffa0, 0xffa0],
    ],
  ],
  ['annotations', [[0xfff9, 0xfffb]]],
  ['halves of characters', [[0xd800, 0xdfff]]],
  [
    'no characters',
    [
      [0xfdd0, 0xfdef],
      [0xfffe, 0xffff],
      [0x1fffe, 0x1ffff],
      [0x10fffe, 0x10ffff],
    ],
  ],
];

describe('what is not seen is shown', () => {
  test.each(KINDS)('%s', (_kind, ranges) => {
    for (const [first, last] of ranges)
      for (let code = first; code <= last; code++) {
        const char = code <= 0xffff ? String.fromCharCode(code) : String.fromCodePoint(code);
        const shown = `a\\u{${code.toString(16)}}b`;
        expect(showUnseen(`a${char}b`)).toBe(shown);
        if (code !== 0x0d) expect(showUnseenLine(`a${char}b`)).toBe(shown);
        const json = seenJson({ [`k${char}`]: `a${char}b` });
        expect(json).toMatch(/^[ -~]*$/);
        expect(JSON.parse(json)).toEqual({ [`k${char}`]: `a${char}b` });
      }
  });

  test('line feeds and tabs stay in a text, and are named on a line', () => {
    expect(showUnseen('a\tb\r\nc\nd\re')).toBe('a\tb\nc\nd\\u{d}e');
    expect(showUnseenLine('a\tb\r\nc')).toBe('a\\tb\\r\\nc');
  });
});

describe('what a reader needs stays', () => {
  test.each([
    ['pictures joined into one', '👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🕵🏽‍♂️ ❤️‍🔥'],
    ['a picture and its look', '❤️ ☎︎ ☀️ 👍🏽 ©️'],
    ['key caps', '1️⃣ #️⃣'],
    ['flags', '🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿 🇩🇪'],
    ['Persian', 'می‌خواهم کتاب‌ها'],
    ['Hindi', 'क्‍ष श्‍री'],
    ['Sinhala and Malayalam', 'ශ්‍රී ന്‍'],
    ['letters of all kinds', 'Grüße, 漢字, שלום, العربية, ไทย, 한국어, é'],
  ])('%s', (_kind, text) => {
    expect(showUnseen(text)).toBe(text);
    expect(seenJson(text)).toBe(JSON.stringify(text));
  });

  test.each([
    ['a joiner among letters that need none', 'a‍b', 'a\\u{200d}b'],
    ['a joiner that joins nothing', '👩‍ x', '👩\\u{200d} x'],
    ['two joiners', 'می‌‌خ', 'می\\u{200c}\\u{200c}خ'],
    ['two selectors', '❤️️', '❤️\\u{fe0f}'],
    ['a selector of no picture', 'a️', 'a\\u{fe0f}'],
    ['a digit that is no key cap', '1️2', '1\\u{fe0f}2'],
    ['a variant of a letter', '葛󠄀', '葛\\u{e0100}'],
    ['words in a flag', '🏴󠁨󠁩󠁿', '🏴\\u{e0068}\\u{e0069}\\u{e007f}'],
    ['a flag without its end', '🏴󠁧󠁢󠁥󠁮󠁧', '🏴\\u{e0067}\\u{e0062}\\u{e0065}\\u{e006e}\\u{e0067}'],
    ['a mark of direction that passes for a letter', '؜‌م', '\\u{61c}\\u{200c}م'],
  ])('but not %s', (_kind, text, shown) => {
    expect(showUnseen(text)).toBe(shown);
  });
});

test('whatever a text holds, its JSON means the same and hides nothing', () => {
  const nasty = fc.string({
    unit: fc.oneof(
      fc.constantFrom(
        '\u001b',
        '\u202e',
        '\u200b',
        '\u200d',
        '\ufe0f',
        '👩',
        'م',
        '"',
        '\\',
        '\u{e0041}',
        'a',
      ),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  });
  const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u{e0000}-\u{e01ef}\u200b\u200e\u200f\u2060-\u2064\u00ad]/u;
  fc.assert(
    fc.property(fc.dictionary(nasty, nasty), (value) => {
      expect(JSON.parse(seenJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      expect(seenJson(value)).not.toMatch(HIDDEN);
    }),
  );
});

test('a line of a log is JSON on one line, without secrets and without what is not seen', () => {
  const value = {
    a: 'x\n\u202e\u2028',
    nested: { password: 'hunter2', list: ['sk-abcdefgh12', '\u001bghp_abcdefgh12'] },
    count: 3,
    at: new Date(0),
    left: undefined,
  };
  expect(logJson(value)).toBe(
    '{"a":"x\\n\\u202e\\u2028","nested":{"password":"[redacted]","list":["[redacted]","\\u001b[redacted]"]},"count":3,"at":"1970-01-01T00:00:00.000Z"}',
  );
  expect(redact('a\nsk-abcdefgh12\u200b')).toBe('a\\n[redacted]\\u{200b}');
});
