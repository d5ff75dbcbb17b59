import type { Near } from './vectors.ts';

/**
 * Puts the two rankings together: each one's scores are set into its own spread (three standard deviations around the
 * mean), then added half and half. So a passage that stands out in one is found, and rank alone decides nothing.
 */
export function fuse(legs: readonly (readonly Near[])[]): Near[] {
  const used = legs.filter((leg) => leg.length > 0);
  const scores = new Map<number, number>();
  for (const leg of used) {
    const spread = spreadOf(leg);
    for (const { passage, score } of leg)
      scores.set(passage, (scores.get(passage) ?? 0) + spread(score) / used.length);
  }
  return [...scores]
    .map(([passage, score]) => ({ passage, score }))
    .toSorted((a, b) => b.score - a.score || a.passage - b.passage);
}

function spreadOf(leg: readonly Near[]): (score: number) => number {
  const mean = leg.reduce((sum, { score }) => sum + score, 0) / leg.length;
  const deviation = Math.sqrt(leg.reduce((sum, { score }) => sum + (score - mean) ** 2, 0) / leg.length);
  if (deviation === 0) return () => 0.5;
  // What stands out by more is more than 1: cut off there, the best ones would be equal.
  return (score) => (score - (mean - 3 * deviation)) / (6 * deviation);
}
