import { analyse, isMarked, pairsOf, type Words } from './analyse.ts';

/** Beyond this many words a question says nothing new. */
const MOST_WORDS = 64;

/** English words that stand in every text: they tell nothing and cost the most. */
const FILLING = new Set('the of and is are was were a an in to by on at for it that with as be'.split(' '));

/** The FTS5 expression for a question: any of its words counts, rare ones the most. Undefined: it has no words. */
export function keywordQuery(text: string): string | undefined {
  const asked = analyse(text);
  const telling = asked.words.filter((word) => !FILLING.has(word));
  const words = (telling.length > 0 ? telling : asked.words).slice(0, MOST_WORDS);
  if (words.length === 0) return undefined;
  const { columns, terms } = legs({ ...asked, words });
  const any = [...new Set(terms)].map((term) => `"${term}"`).join(' OR ');
  return `{${columns}} : (${any})`;
}

function legs(asked: Words): { columns: string; terms: string[] } {
  if (isMarked(asked)) return { columns: 'words pairs', terms: [...asked.words, ...pairsOf(asked.words)] };
  return { columns: 'words bare', terms: [...asked.words, ...pairsOf(asked.words)] };
}
