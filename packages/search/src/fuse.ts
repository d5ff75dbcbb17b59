import type { AskedVector } from './index-words.ts';
import type { Near } from './vectors.ts';

/**
 * Puts the two rankings together: each one's scores are set into its own spread (three standard deviations around the
 * mean), then added half and half. So a passage that stands out in one is found, and rank alone decides nothing.
 */
export function fuse<K extends number | string>(legs: readonly (readonly Near<K>[])[]): Near<K>[] {
  const used = legs.filter((leg) => leg.length > 0);
  const scores = new Map<K, number>();
  for (const leg of used) {
    const spread = spreadOf(leg);
    for (const { passage, score } of leg)
      scores.set(passage, (scores.get(passage) ?? 0) + spread(score) / used.length);
  }
  return [...scores]
    .map(([passage, score]) => ({ passage, score }))
    .toSorted((a, b) => b.score - a.score || (a.passage < b.passage ? -1 : 1));
}

function spreadOf(leg: readonly { score: number }[]): (score: number) => number {
  const mean = leg.reduce((sum, { score }) => sum + score, 0) / leg.length;
  const deviation = Math.sqrt(leg.reduce((sum, { score }) => sum + (score - mean) ** 2, 0) / leg.length);
  if (deviation === 0) return () => 0.5;
  // What stands out by more is more than 1: cut off there, the best ones would be equal.
  return (score) => (score - (mean - 3 * deviation)) / (6 * deviation);
}

/** How many each leg brings to the fusion. */
export const PER_LEG = 100;

/** Nearer than this two texts are only by chance; where the language of the question is not sure, than the other. */
export function leastNear({ isSure }: AskedVector): number {
  return isSure ? 0.2 : 0.35;
}

/** A question of which it is not sure that the model understands it counts only where words find nothing. */
export function meaningCounts(asked: AskedVector | undefined, byWords: readonly unknown[]): boolean {
  return asked !== undefined && (asked.isSure || byWords.length === 0);
}
