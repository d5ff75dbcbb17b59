import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { passagesOf } from './passages.ts';

const Line = fc.oneof(
  fc.constantFrom('', '# One', '## Two', '```', '~~~', '   ', 'short.', '\r'),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer({ min: 1, max: 400 }).map((count) => 'some words. '.repeat(count)),
  fc.integer({ min: 1, max: 5_000 }).map((count) => '😀'.repeat(count)),
);

test('[KNOW-17] every letter of a text is in exactly one passage, and no passage is too long', () => {
  fc.assert(
    fc.property(fc.array(Line), fc.constantFrom('text/markdown', 'text/plain'), (lines, mime) => {
      const body = lines.join('\n');
      const passages = passagesOf(body, mime);
      let at = 0;
      for (const { start, end } of passages) {
        expect(body.slice(at, start).trim()).toBe('');
        expect(end).toBeGreaterThan(start);
        expect(end - start).toBeLessThanOrEqual(2_000);
        at = end;
      }
      expect(body.slice(at).trim()).toBe('');
    }),
  );
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
