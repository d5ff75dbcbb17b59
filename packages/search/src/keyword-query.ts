import { analyse, isMarked, pairsOf, type Words } from './analyse.ts';
import { isForeign, SMALL_WORDS } from './model-language.ts';

/** Beyond this many words a question says nothing new; nor do more terms than these, of which each costs the same. */
const MOST_WORDS = 64;
const MOST_TERMS = 64;

/** English words that stand in every text: they tell nothing and cost the most. */
const FILLING = new Set('the of and is are was were a an in to by on at for it that with as be'.split(' '));
/** The same in scripts of their own, in the form in which words are looked for. */
const OTHER_FILLING = new Set(
  analyse(
    'في من على إلى عن مع هو هي ما هذا هذه التي الذي كان كانت أن هل ' +
      'के का की में है हैं को से और था थे थी ने पर एक यह कि लिए किया क्या ' +
      'и в на с по из к о что как был была были не для от это',
  ).words,
);

/** What of a question is looked for, and in which of the columns. */
export interface AskedTerms {
  columns: (keyof Words)[];
  terms: string[];
}

/** The words of a question that tell something; undefined: it has none. */
export function askedTerms(text: string): AskedTerms | undefined {
  const asked = analyse(text);
  const filling = isForeign(asked.words) ? SMALL_WORDS : FILLING;
  const telling = asked.words.filter((word) => !filling.has(word) && !OTHER_FILLING.has(word));
  const words = (telling.length > 0 ? telling : asked.words).slice(0, MOST_WORDS);
  if (words.length === 0) return undefined;
  const terms = [...new Set([...words, ...pairsOf(asked.words.slice(0, MOST_WORDS))])].slice(0, MOST_TERMS);
  return { columns: isMarked(asked) ? ['words', 'pairs'] : ['words', 'bare'], terms };
}

/** The FTS5 expression for a question: any of its words counts, rare ones the most. Undefined: it has no words. */
export function keywordQuery(text: string): string | undefined {
  const asked = askedTerms(text);
  return asked === undefined ? undefined : expressionOf(asked);
}

/** The FTS5 expression that is true for what has any of the words. */
export function expressionOf({ columns, terms }: AskedTerms): string {
  return `{${columns.join(' ')}} : (${terms.map((term) => `"${term}"`).join(' OR ')})`;
}

/** The rarest words, as many as together stand in no more than so many passages; the rarest of all in any case. */
export function rarest(
  { columns, terms }: AskedTerms,
  most: number,
  countOf: (expression: string) => number,
): AskedTerms {
  const counted = terms
    .map((term) => ({ term, count: countOf(expressionOf({ columns, terms: [term] })) }))
    .toSorted((a, b) => a.count - b.count);
  const kept: string[] = [];
  let sum = 0;
  for (const { term, count } of counted) {
    if (count === 0) continue;
    if (kept.length > 0 && sum + count > most) break;
    kept.push(term);
    sum += count;
  }
  return { columns, terms: kept };
}
