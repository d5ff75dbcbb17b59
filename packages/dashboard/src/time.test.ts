import { expect, test, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null });

const { agoWords, clockTime, whenTime } = await import('./time.ts');
const { money } = await import('./usage/usage-words.ts');

const before = (ms: number): string => new Date(Date.now() - ms).toISOString();

test('a moment of today is its time, one of another day has that day', () => {
  const [now, earlier] = [before(0), before(3 * 86_400_000)];
  expect(whenTime(now)).toBe(clockTime(now));
  expect(whenTime(earlier)).toContain(String(new Date(earlier).getDate()));
  expect(whenTime(earlier)).not.toBe(clockTime(earlier));
});

test('what has just happened is not “now ago”', () => {
  expect(agoWords(before(1_000))).toBe('just now');
  expect(agoWords(before(61_000))).toBe('1 min ago');
});

test.each([
  [0, '$0.00'],
  [0.97, '$0.97'],
  [0.042, '$0.042'],
  [0.0001, '$0.0001'],
  [12.5, '$12.50'],
])('%d dollars are told as %s', (dollars, words) => {
  expect(money(dollars)).toBe(words);
});
