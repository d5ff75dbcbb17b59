/** The words of a text in the forms in which they are looked for; each is one column of the keyword index. */
export interface Words {
  /** As they are written, in lower case. */
  words: string[];
  /** Neighbours joined, where a text has letters with marks: a Vietnamese word is often two syllables. */
  pairs: string[];
  /** Without their marks, where they have any, for those who type without them. */
  bare: string[];
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const MARKED = /(?=\P{ASCII})\p{Script=Latin}/u;
const NOT_ASCII = /[^\p{ASCII}]/u;

/** To take a run of letters apart takes time that grows with the square of its length. */
const PIECE = /.{1,1000}/gsu;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** Takes a text apart, the same for what is kept and for what is asked. */
export function analyse(text: string): Words {
  const words = wordsOf(text);
  const marked = words.filter((word) => MARKED.test(word));
  if (marked.length === 0) return { words, pairs: [], bare: [] };
  // A few names with marks must not make a text longer than its like: length counts against it.
  if (marked.length < words.length * 0.1) return { words, pairs: [], bare: marked.map(withoutMarks) };
  const bare = words.map(withoutMarks);
  return { words, pairs: pairsOf(words), bare: [...bare, ...pairsOf(bare)] };
}

/** True for a text that has letters beyond ASCII: it says its marks, and is not looked for without them. */
export function isMarked({ words }: Pick<Words, 'words'>): boolean {
  return words.some((word) => NOT_ASCII.test(word));
}

/** A word as it is typed on a keyboard without marks. */
function withoutMarks(word: string): string {
  return word.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('đ', 'd');
}

/** Neighbours as one word; the joint is a letter that no text has. */
export function pairsOf(words: readonly string[]): string[] {
  return words.slice(1).map((word, i) => `${words[i] ?? ''}${JOINT}${word}`);
}

const JOINT = '_';

function wordsOf(text: string): string[] {
  const found: string[] = [];
  for (const [run] of text.normalize('NFC').toLowerCase().matchAll(WORD)) {
    if (!UNSPACED.test(run)) found.push(run);
    else
      for (const [piece] of run.matchAll(PIECE))
        for (const { segment } of segmenter.segment(piece)) found.push(segment);
  }
  return found;
}
