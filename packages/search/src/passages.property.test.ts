import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { BUILT_IN, readTokenizer } from './model-files.ts';
import { createReader } from './model-reader.ts';
import { forModel, passagesOf, windowsOf } from './passages.ts';
import { byLetters } from './ruler.ts';

const Line = fc.oneof(
  fc.constantFrom('', '# One', '## Two', '```', '~~~', '   ', 'short.', '\r'),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer({ min: 1, max: 400 }).map((count) => 'some words. '.repeat(count)),
  fc.integer({ min: 1, max: 5_000 }).map((count) => '😀'.repeat(count)),
);

const reader = createReader(readTokenizer(undefined) ?? never(), BUILT_IN);

function never(): never {
  throw new Error('the model is not installed');
}

test.each([
  ['letters', byLetters],
  ['tokens', reader],
])('[KNOW-17] by %s: every letter of a text is in a passage, and no passage is too long', (_, ruler) => {
  fc.assert(
    fc.property(
      fc.array(Line),
      fc.constantFrom('text/markdown', 'text/plain'),
      fc.string({ maxLength: 300 }),
      (lines, mime, title) => {
        const body = lines.join('\n');
        const passages = passagesOf(body, mime, ruler, title);
        let [at, last] = [0, -1];
        for (const { start, end, headings } of body.trim() === '' ? [] : passages) {
          // What was said before may be said again, but each passage has something of its own.
          expect(body.slice(at, start).trim()).toBe('');
          expect(start).toBeGreaterThan(last);
          expect(end).toBeGreaterThan(at);
          expect(end - start).toBeLessThanOrEqual(2_000);
          const text = body.slice(start, end);
          const seen = forModel(title, headings, text);
          if (ruler.reads(text)) expect(ruler.tokensOf(seen)).toBeLessThanOrEqual(ruler.most);
          // The whole passage is given to the model in parts that it reads to their end.
          for (const part of windowsOf(title, headings, text, reader))
            if (reader.reads(part)) expect(reader.tokensOf(part)).toBeLessThanOrEqual(reader.most);
          [at, last] = [end, start];
        }
        expect(body.slice(at).trim()).toBe('');
      },
    ),
    { numRuns: 60 },
  );
});

test('[KNOW-17] a passage that is cut again leaves no part that another one contains', () => {
  const words = (count: number) => 'some words. '.repeat(count);
  for (const lines of [
    ['😀'.repeat(1_936), words(49), words(31), words(87)],
    [words(1), words(362), words(55)],
  ]) {
    const passages = passagesOf(lines.join('\n'), 'text/markdown', reader);
    expect(passages.length).toBeGreaterThan(3);
    for (const [i, { start, end }] of passages.entries()) {
      expect(start).toBeGreaterThan(passages[i - 1]?.start ?? -1);
      expect(end).toBeGreaterThan(passages[i - 1]?.end ?? -1);
    }
  }
});

test('[KNOW-12] [KNOW-17] a megabyte without an empty line, and one without a space, are taken apart at once', () => {
  for (const sentence of ['Số một là đây.\n"quoted" \\ ', 'số\u00a0một.', 'đ'])
    expect(passagesOf(sentence.repeat(1_000_000 / sentence.length), 'text/markdown').length).toBeGreaterThan(
      400,
    );
});

test('[KNOW-17] a long text is cut at its sentences, and what stands at a cut is whole in one of the passages', () => {
  const sentences = Array.from(
    { length: 60 },
    (_, i) => `Sentence number ${i} says that the pump of block ${i} was closed in the evening.`,
  );
  const body = sentences.join(' ');
  const passages = passagesOf(body, 'text/plain', reader, 'Pumps');
  expect(passages.length).toBeGreaterThan(3);
  for (const { start, end } of passages)
    expect(body.slice(start, end)).toMatch(/^Sentence [\s\S]*evening\.$/);
  for (const [i, { start }] of passages.entries())
    if (i > 0) expect(start).toBeLessThan(passages[i - 1]?.end ?? 0);
});

test('[KNOW-17] foreign texts are cut by their letters: the model does not read them', () => {
  const body = 'Máy bơm của khối này đã được đóng vào buổi tối hôm qua. '.repeat(30);
  expect(passagesOf(body, 'text/plain', reader)).toEqual(passagesOf(body, 'text/plain', byLetters));
});

test('[KNOW-17] passages know the headings above them; a heading in code is none', () => {
  const long = 'Words. '.repeat(80);
  const body = `# Top\n\n${long}\n\n## Below\n\n${long}\n\n\`\`\`\n# no heading\n\`\`\`\n\n# Next\n\n${long}`;
  expect(passagesOf(body, 'text/markdown').map(({ headings }) => headings)).toEqual([
    ['Top'],
    ['Top', 'Below'],
    ['Next'],
  ]);
});
