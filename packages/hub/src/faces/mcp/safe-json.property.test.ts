import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { safeJson, safeLine } from './safe-json.ts';

const nasty = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\u001B', '\u202E', '\u200B', '\u2028', '<', '/', 'a', '"', '\\', '\u0085', '\u{E0041}'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
});

test('[C-MCP-10] safe JSON means the same, and shows nothing hidden and no tag', () => {
  fc.assert(
    fc.property(fc.dictionary(nasty, fc.oneof(nasty, fc.array(nasty))), (value) => {
      const text = safeJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|<[A-Za-z/!?|]/u);
    }),
  );
});

test('a safe line keeps harmless text and is bounded', () => {
  expect(safeLine('Review of a<b in x.ts — 日本 😀', 120)).toBe('Review of a\\u003cb in x.ts — 日本 😀');
  expect(safeLine('a'.repeat(200), 120)).toHaveLength(120);
});
