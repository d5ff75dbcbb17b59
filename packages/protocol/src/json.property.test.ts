import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { ParleyError } from './errors.ts';
import { canonicalJson, decodeJson } from './json.ts';

const encoder = new TextEncoder();

/** JSON values that every store keeps exactly. */
const allowed = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ min: -1e9, max: 1e9, noNaN: true }),
    text(),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      text().filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value;

function text(): fc.Arbitrary<string> {
  return fc.string({ unit: 'binary', maxLength: 12 }).filter((value) => !value.includes('\0'));
}

/** One of the many spellings of a value: other white space, other escapes. */
function spelt(value: unknown, seed: number): string {
  let state = seed;
  const chance = (): number => (state = (state * 1_103_515_245 + 12_345) & 0x7fffffff) / 0x7fffffff;
  const space = (): string => ['', ' ', '\n', '\t\r '][Math.floor(chance() * 4)] ?? '';
  const string = (content: string): string =>
    `"${Array.from({ length: content.length }, (_, i) => {
      const unit = content.charCodeAt(i).toString(16).padStart(4, '0');
      const char = content[i] ?? '';
      const plain = JSON.stringify(char).slice(1, -1);
      const surrogate = char >= '\ud800' && char <= '\udfff';
      return !surrogate && chance() < 0.3
        ? `\\u${chance() < 0.5 ? unit : unit.toUpperCase()}`
        : surrogate
          ? char
          : plain;
    }).join('')}"`;
  const write = (item: unknown): string => {
    if (typeof item === 'string') return string(item);
    if (item === null || typeof item !== 'object') return JSON.stringify(item);
    const parts = Array.isArray(item)
      ? item.map((part) => space() + write(part) + space())
      : Object.entries(item).map(
          ([key, part]) => `${space()}${string(key)}${space()}:${space()}${write(part)}${space()}`,
        );
    return Array.isArray(item) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
  };
  return space() + write(value) + space();
}

describe('decodeJson', () => {
  test('reads what JSON.parse reads, from text and from bytes', () => {
    fc.assert(
      fc.property(allowed, fc.nat(), (value, seed) => {
        const json = spelt(value, seed);
        const expected: unknown = JSON.parse(json);
        expect(decodeJson(json)).toEqual(expected);
        expect(decodeJson(encoder.encode(json))).toEqual(expected);
      }),
    );
  });

  test('never reads what JSON.parse would not, and reads nothing differently', () => {
    const mutated = fc
      .tuple(
        allowed,
        fc.nat(),
        fc.nat(),
        fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '1', 'e', '-', ' ', '\u0001'),
      )
      .map(([value, seed, at, insert]) => {
        const json = spelt(value, seed);
        const place = at % (json.length + 1);
        return json.slice(0, place) + insert + json.slice(place + (at % 2));
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string(), fc.json()), (json) => {
        let decoded: unknown;
        try {
          decoded = decodeJson(json);
        } catch (error) {
          expect(error).toBeInstanceOf(ParleyError);
          return;
        }
        expect(decoded).toEqual(JSON.parse(json));
      }),
      { numRuns: 500 },
    );
  });

  const forbidden: Record<string, string> = {
    NUL: '"a\\u0000"',
    'a lone high surrogate': '"\\ud83d"',
    'a high surrogate before text': '"\\ud83dx"',
    'two high surrogates': '"\\ud83d\\ud83d"',
    'a lone low surrogate': '"\\udE00"',
    'a repeated key': '{"a":1,"b":2,"a":3}',
    'a repeated key in other letters': '{"a":1,"\\u0061":1}',
    __proto__: '{"__proto__":{}}',
    '__proto__ in other letters': '{"\\u005f\\u005fproto__":1}',
    Infinity: '1e309',
    '-Infinity': '-1e400',
    'digits that would be lost': '9007199254740993',
    'digits that would be lost below zero': '-9007199254740993',
    'a large number written short': '1e20',
    depth: `${'['.repeat(65)}${']'.repeat(65)}`,
    items: `[${'1,'.repeat(20_000)}1]`,
    'a control character': '"\u0001"',
    'a comment': '/* x */ 1',
    'a bare word': 'undefined',
  };

  /** A document with a hole somewhere in it. */
  const around = fc
    .array(fc.tuple(fc.constantFrom('list', 'object'), allowed, allowed), { maxLength: 6 })
    .map(
      (layers) =>
        (hole: string): string =>
          layers.reduce(
            (inner, [kind, before, after]) =>
              kind === 'list'
                ? `[${JSON.stringify(before)},${inner},${JSON.stringify(after)}]`
                : `{"x":${JSON.stringify(before)},"y":${inner},"z":${JSON.stringify(after)}}`,
            hole,
          ),
    );

  test.each(Object.entries(forbidden))('refuses %s wherever it stands', (_what, hole) => {
    fc.assert(
      fc.property(around, (document) => {
        const json = document(hole);
        const read = (): unknown => decodeJson(json);
        expect(read).toThrow(ParleyError);
        expect(() => decodeJson(encoder.encode(json))).toThrow(ParleyError);
        expect(decodeJson(document('1'))).toEqual(JSON.parse(document('1')));
      }),
      { numRuns: 50 },
    );
  });

  test('refuses bytes that are not UTF-8 wherever they stand', () => {
    const wrong = fc.constantFrom(
      [0xc3, 0x28],
      [0x80],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xff],
      [0xe2, 0x82],
    );
    fc.assert(
      fc.property(around, wrong, (document, bytes) => {
        const [head = '', tail = ''] = document('"HOLE"').split('HOLE');
        const whole = Uint8Array.from([...encoder.encode(head), ...bytes, ...encoder.encode(tail)]);
        expect(() => decodeJson(whole)).toThrow('UTF-8');
      }),
    );
  });

  test('a lone surrogate in a text that is no longer bytes is refused too', () => {
    expect(() => decodeJson('"\ud800"')).toThrow('lone surrogate');
  });

  test('depth and items are counted exactly', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(decodeJson(nested(3), { depth: 3, items: 10 })).toEqual([[[]]]);
    expect(() => decodeJson(nested(4), { depth: 3, items: 10 })).toThrow('deeper than 3');
    expect(decodeJson('{"a":1,"b":[1,2]}', { depth: 3, items: 4 })).toEqual({ a: 1, b: [1, 2] });
    expect(() => decodeJson('{"a":1,"b":[1,2,3]}', { depth: 3, items: 4 })).toThrow('more than 4');
  });

  test('[C-HUB-30] a million brackets are refused after the first few', () => {
    const before = process.cpuUsage().user;
    expect(() => decodeJson('['.repeat(1_000_000))).toThrow('deeper than 64');
    expect(() => decodeJson('{"a":'.repeat(1_000_000))).toThrow('deeper than 64');
    // Five times the 50 ms of the case.
    expect((process.cpuUsage().user - before) / 1_000).toBeLessThan(250);
  });
});

describe('canonicalJson', () => {
  test('is the same for every order of keys and every spelling, and leads back to the value', () => {
    fc.assert(
      fc.property(allowed, fc.nat(), (value, seed) => {
        const shuffled = decodeJson(spelt(reversed(value), seed));
        expect(canonicalJson(shuffled)).toBe(canonicalJson(decodeJson(JSON.stringify(value))));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('differs for different values', () => {
    fc.assert(
      fc.property(allowed, allowed, (a, b) => {
        const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
        expect(canonicalJson(a) === canonicalJson(b)).toBe(same);
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

/** A value in which the order of keys no longer matters, told apart from every list. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return { list: value.map(sorted) };
  if (value === null || typeof value !== 'object') return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}
