import type { Weighed } from './asked-words.ts';

/** A message that has all the words; what was not weighed has no counts. */
export interface Candidate {
  length: number;
  weighed: Weighed | undefined;
}

/** As in SQLite's bm25(): how soon a word that is repeated says nothing new, and how much length counts against a text. */
const K1 = 1.2;
const B = 0.75;

/** The best first, by the words they repeat and the words that are rare; of equal ones the newest, as they come. */
export function rank<T extends Candidate>(
  candidates: readonly T[],
  rarityByWord: ReadonlyMap<string, number>,
): T[] {
  const mean = candidates.reduce((sum, { length }) => sum + length, 0) / Math.max(1, candidates.length);
  const score = ({ weighed, length }: T): number => {
    let sum = weighed === undefined ? -1 : 0;
    for (const [word, count] of weighed?.counts ?? [])
      sum +=
        ((rarityByWord.get(word) ?? 0) * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / mean));
    return sum;
  };
  return candidates
    .map((candidate) => ({ candidate, score: score(candidate) }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ candidate }) => candidate);
}
