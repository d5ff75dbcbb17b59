import { expect, test } from 'vitest';

import { chanceOf, fitOf, rarity } from './fit.ts';

/** What is at least so near counts as an answer. */
const NEAR = 0.5;

test('[KNOW-17] words that stand everywhere make no answer, the same share of rare ones does', () => {
  expect(fitOf(0.4, 0.35, undefined)).toBeLessThan(NEAR);
  expect(fitOf(0.4, 0.05, undefined)).toBeGreaterThan(NEAR);
});

test('[KNOW-17] in a few texts nothing is by chance; in many, what stands in most of them is', () => {
  expect(chanceOf(1, 1)).toBe(0);
  expect(chanceOf(3, 3)).toBeLessThan(0.2);
  expect(chanceOf(900, 1_000)).toBeGreaterThan(0.9);
  for (const [share, chance] of [
    [1, 1],
    [0, 0.3],
    [1, 0],
  ] as const)
    expect(fitOf(share, chance, undefined)).toBeLessThanOrEqual(1);
  expect(fitOf(0, 0.3, undefined)).toBe(0);
});

test('[KNOW-17] a name tells more than several common words', () => {
  expect(rarity(1, 1_000)).toBeGreaterThan(3 * rarity(200, 1_000));
});
