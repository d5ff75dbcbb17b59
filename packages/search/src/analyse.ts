import { codeWords } from './code-words.ts';
import { alike, stemOf } from './word-forms.ts';

/** The words of a text in the forms in which they are looked for; each is one column of the keyword index. */
export interface Words {
  /** As they are written, in lower case. */
  words: string[];
  /** Neighbours joined, in Vietnamese: a word of it is often two syllables. */
  pairs: string[];
  /** Without their marks, where they have any, for those who type without them. */
  bare: string[];
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Letters of Vietnamese that no other language has. */
const VIETNAMESE = /[ơư\u1ea0-\u1ef9]/u;
const MARKED = /(?=\P{ASCII})\p{Script=Latin}/u;
const NOT_ASCII = /[^\p{ASCII}]/u;

/** To take a run of letters apart takes time that grows with the square of its length. */
const PIECE = /.{1,1000}/gsu;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** Takes a text apart, the same for what is kept and for what is asked. */
export function analyse(text: string): Words {
  const words = wordsOf(text);
  const all = [...words, ...codeWords(text)];
  const marked = words.filter((word) => MARKED.test(word));
  if (marked.length === 0) return { words: all, pairs: [], bare: [] };
  const syllables = words.filter((word) => VIETNAMESE.test(word));
  // Marks alone must not make a text longer than its like: length counts against it.
  if (syllables.length < words.length * 0.1) return { words: all, pairs: [], bare: marked.map(withoutMarks) };
  const bare = words.map(withoutMarks);
  return { words: all, pairs: pairsOf(words), bare: [...bare, ...pairsOf(bare)] };
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

/** What joins neighbours; no word has it. */
export const JOINT = '_';

function wordsOf(text: string): string[] {
  const found: string[] = [];
  for (const [run] of alike(text.normalize('NFC').toLowerCase()).matchAll(WORD)) {
    if (!UNSPACED.test(run)) found.push(stemOf(run).replaceAll(MARKS, asLetter));
    else
      for (const [piece] of run.matchAll(PIECE))
        for (const { segment } of segmenter.segment(piece)) found.push(segment.replaceAll(MARKS, asLetter));
  }
  return found;
}

const MARKS = /\p{M}/gu;

/** The vowel signs of Thai, Hindi and their like are no letters to SQLite, which would cut the word there: here they are. */
function asLetter(mark: string): string {
  return String.fromCharCode(PRIVATE + ((mark.codePointAt(0) ?? 0) % PRIVATE_SIZE));
}

/** Letters that no script has. */
const PRIVATE = 0xe000;
const PRIVATE_SIZE = 0x1900;
