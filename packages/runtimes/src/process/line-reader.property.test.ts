import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLineReader } from './line-reader.ts';

/** Reads bytes in pieces of the given sizes, over and over. */
function read(bytes: Buffer, sizes: readonly number[], maxBytes: number) {
  const lines: string[] = [];
  const heads: string[] = [];
  const reader = createLineReader({
    maxBytes,
    onLine: (line) => lines.push(line),
    onOversized: (head) => heads.push(head),
  });
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    reader.take(bytes.subarray(at, at + size));
    at += size;
  }
  reader.end();
  return { lines, heads };
}

const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

test('lines come out whole however their bytes were cut', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/\s/gu, '_')));
  fc.assert(
    fc.property(texts, cuts, fc.constantFrom('\n', '\r\n'), (lines, sizes, newline) => {
      const read1 = read(Buffer.from(lines.join(newline)), sizes, 1_000_000);
      expect(read1).toEqual({ lines: lines.filter((line) => line !== ''), heads: [] });
    }),
  );
});

test('a line beyond the bound leaves its head, and its neighbours alone', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), cuts, (length, sizes) => {
      const long = 'x'.repeat(length);
      const { lines, heads } = read(Buffer.from(`before\n${long}\nafter\n`), sizes, 10);
      expect(lines).toEqual(length > 10 ? ['before', 'after'] : ['before', long, 'after']);
      expect(heads).toHaveLength(length > 10 ? 1 : 0);
      for (const head of heads) expect(long.startsWith(head)).toBe(true);
    }),
  );
});
