import { expect, test } from 'vitest';
import { z } from 'zod';

import { CONTRACTS } from './contracts.ts';
import { issueWords } from './issue-words.ts';
import { rangesOf } from './range-of.ts';

const schema = z.object({
  name: z.string().min(1).max(5),
  limit: z.int().min(1).max(50),
  list: z.array(z.string()).min(1),
  mode: z.enum(['open', 'closed']),
  at: z.iso.datetime(),
  either: z.union([z.string(), z.array(z.string())]),
  own: z.string().regex(/^x/, 'must begin with x'),
});
const good = {
  name: 'ada',
  limit: 1,
  list: ['a'],
  mode: 'open',
  at: '2026-01-31T09:30:00Z',
  either: 'a',
  own: 'x',
};

function words(wrong: Record<string, unknown>): string {
  const input = { ...good, ...wrong };
  return issueWords(schema.safeParse(input).error?.issues[0], input);
}

test.each([
  [{ limit: 500 }, 'must be 1 to 50; 500 was given'],
  [{ limit: 0 }, 'must be 1 to 50; 0 was given'],
  [{ name: '' }, 'must have 1 to 5 characters; it is empty'],
  [{ list: [] }, 'must have at least 1 item; it is empty'],
  [{ inside: { ms: 7 } }, 'must be 10 to 20; 7 was given'],
  [{ several: ['ok', ''] }, 'must have 1 to 9 characters; it is empty'],
])('with its schema both ends of a range are named: %o', (wrong, reported) => {
  const whole = schema.extend({
    inside: z.object({ ms: z.int().min(10).max(20).optional() }).optional(),
    several: z.array(z.string().min(1).max(9)).default([]),
  });
  const input = { ...good, ...wrong };
  expect(issueWords(whole.safeParse(input).error?.issues[0], input, rangesOf(whole))).toBe(reported);
});

test.each([
  [{ name: '' }, 'must have at least 1 character; it is empty'],
  [{ name: 'much longer' }, 'must have at most 5 characters; it has 11'],
  [{ name: undefined }, 'is missing: it must be a text'],
  [{ name: 7 }, 'must be a text; a number was given'],
  [{ name: null }, 'must be a text; null was given'],
  [{ limit: 500 }, 'must be at most 50; 500 was given'],
  [{ limit: 1.5 }, 'must be a whole number; 1.5 was given'],
  [{ list: [] }, 'must have at least 1 item; it is empty'],
  [{ mode: 'ajar' }, 'must be one of open, closed; "ajar" was given'],
  [{ at: 'noon' }, 'must be a time as ISO 8601 has it, such as 2026-01-31T09:30:00Z; "noon" was given'],
  [{ either: 7 }, 'must be a text or a list; a number was given'],
  [{ either: [7] }, '0: must be a text; a number was given'],
  [{ own: 'y' }, 'must begin with x'],
])('what is wrong is told in plain words: %o', (wrong, reported) => {
  expect(words(wrong)).toBe(reported);
});

test('a secret that was given is not said back', () => {
  expect(words({ mode: 'ghp_0123456789abcdefghijklmnopqrstuvwxyz' })).not.toContain('0123456789');
});

test('no operation refuses anything in the words of the validator', () => {
  const wrong = [undefined, null, 7, -1, 1e12, 1.5, '', 'x'.repeat(100_000), [], [7], {}, true];
  const found = new Set<string>();
  for (const { name, input } of Object.values(CONTRACTS)) {
    const properties = Object.keys(
      z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }).properties ?? {},
    );
    for (const field of properties)
      for (const value of wrong) {
        const given = { [field]: value };
        for (const issue of input.safeParse(given).error?.issues ?? [])
          if (/Invalid|Too small|Too big|Unrecognized|expected|received/.test(issueWords(issue, given)))
            found.add(`${name} ${issue.message}`);
      }
  }
  expect([...found]).toEqual([]);
});
