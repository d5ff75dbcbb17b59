import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createFrameReader, type Frame } from './frame-reader.ts';

const MOST = 200;

function read(chunks: readonly (string | Uint8Array)[]): Frame[] {
  const reader = createFrameReader(MOST);
  const pushed = chunks.flatMap((chunk) => reader.push(Buffer.from(chunk)));
  return [...pushed, ...reader.end()];
}

const text = (frame: Frame | undefined): string =>
  frame !== undefined && 'bytes' in frame ? Buffer.from(frame.bytes).toString() : `!${frame?.fault}`;

const framed = (body: string, head = 'Content-Length', end = '\r\n'): string =>
  `${head}: ${Buffer.byteLength(body)}${end}${end}${body}`;

describe('[FR-1.2] [C-PROXY-01] both framings, found message by message', () => {
  test('lines, headers, and both in one stream', () => {
    const frames = read(['{"a":1}\n', framed('{"b":2}'), '{"c":3}\r\n', framed('{"d":4}\n')]);
    expect(frames.map((frame) => text(frame).trim())).toEqual(['{"a":1}', '{"b":2}', '{"c":3}', '{"d":4}']);
    expect(frames.map(({ framing }) => framing)).toEqual(['line', 'header', 'line', 'header']);
  });

  test('any case of the header, other headers beside it, bare line ends', () => {
    const odd = `content-type: application/json\nCONTENT-LENGTH : 2\n\n{}`;
    expect(read([odd, framed('[]', 'content-length', '\n')]).map(text)).toEqual(['{}', '[]']);
  });

  test('however the bytes are cut, the messages are the same', () => {
    const message = fc.record({
      body: fc.string({ unit: 'grapheme', maxLength: 40 }).map((value) => JSON.stringify({ value })),
      header: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 9 })),
        (sent, cuts) => {
          const bytes = Buffer.from(
            sent.map(({ body, header }) => (header ? framed(body) : `${body}\n`)).join(''),
          );
          const chunks: Uint8Array[] = [];
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const size = cuts.length === 0 ? 1 : (cuts[i % cuts.length] ?? 1);
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          expect(read(chunks).map(text)).toEqual(sent.map(({ body }) => body));
        },
      ),
    );
  });

  test('a last line needs no end; a cut message is told', () => {
    expect(read(['{"a":1}']).map(text)).toEqual(['{"a":1}']);
    expect(read(['Content-Length: 10\r\n\r\n{']).map(text)).toEqual(['!the input ended inside a message']);
  });
});

describe('what is no message is told, and the next one is found', () => {
  test.each([
    ['an endless line', `{"a":"${'x'.repeat(2 * MOST)}"}\n`, /longer than/],
    ['an endless body', framed('x'.repeat(2 * MOST)), /longer than/],
    ['a header that names no length', 'Content-Type: x\r\n\r\n', /names no/],
    ['a length that is no number', 'Content-Length: -1\r\n', /no number/],
    ['two lengths', 'Content-Length: 1\r\nContent-Length: 2\r\n', /no number/],
    ['a line that begins like a header', 'cat\n', /malformed/],
    ['a huge length before a line', 'Content-Length: 999999999999\r\n\r\n{"no":1}\n', /longer than/],
    [
      'a huge length, and its body in several lines',
      'Content-Length: 99999\r\n\r\n{\n "no": [\n  1\n ]\n}\n',
      /longer than/,
    ],
    ['an endless header', `C${'x'.repeat(9_000)}\n`, /too long/],
  ])('%s', (_what, bytes, reported) => {
    for (const size of [1, 7, bytes.length]) {
      const chunks = bytes.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const [fault, next, ...more] = read([...chunks, '{"ok":1}\n']);
      expect(text(fault)).toMatch(reported);
      expect(text(next)).toBe('{"ok":1}');
      expect(more).toEqual([]);
    }
  });
});

test('a huge Content-Length swallows its own body and no message after it, in either framing', () => {
  const lie = 'Content-Length: 999999999999\r\n\r\n{"no":1}';
  for (const after of [framed('{"ok":1}') + framed('{"ok":2}'), '\n{"ok":1}\n{"ok":2}\n'])
    for (const size of [1, 7, 1_000]) {
      const chunks = (lie + after).match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const [fault, ...next] = read(chunks).map(text);
      expect(fault).toMatch(/longer than/);
      expect(next).toEqual(['{"ok":1}', '{"ok":2}']);
    }
});
