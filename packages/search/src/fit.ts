import { JOINT } from './analyse.ts';
import { SMALL_WORDS } from './model-language.ts';

/** Words of questions, which tell nothing of what is asked for. */
const ASKING = new Set(
  'what which who whom whose when where why how many much long old please tell me you we i my your our'.split(
    ' ',
  ),
);
/** In fewer texts than this nothing is known of how rare a word is. */
const FEW_TEXTS = 1_000;

/** The words of a question by which it is told whether a text speaks of the same; all of them where no other is left. */
export function tellingWords(terms: readonly string[]): string[] {
  const words = terms.filter((term) => !term.includes(JOINT));
  const telling = words.filter((word) => !ASKING.has(word) && !SMALL_WORDS.has(word));
  return telling.length > 0 ? telling : words;
}

/** How much a word tells that stands in so many of all texts: names and numbers decide. */
export function rarity(count: number, all: number): number {
  const texts = Math.max(all, FEW_TEXTS);
  return Math.log(1 + (texts - count + 0.5) / (count + 0.5)) ** 1.5;
}

/** How easily a word is in one of the best texts without being meant: the best of many have more than their share. */
export function chanceOf(count: number, all: number): number {
  return Math.sqrt(Math.max(0, count - 1) / Math.max(all, FEWEST_FOR_CHANCE));
}

/** In fewer texts than this, those that share a word may well be meant all of them. */
const FEWEST_FOR_CHANCE = 100;
/** What a text has by chance where it is not known how rare the words are. */
export const USUAL_CHANCE = 0.1;

/**
 * How near a passage comes to a question, 0 to 1: the share of what its words tell, and how near the meanings are where
 * both are known. Two texts of the same meaning have a cosine of about 0.8, so much counts as all of it. Words alone
 * must say more than chance does, which differs much among languages: a Vietnamese syllable stands everywhere.
 */
export function fitOf(byWords: number, chance: number, cosine: number | undefined): number {
  if (cosine === undefined)
    return chance >= 1 ? 0 : (Math.max(0, byWords - chance) / (1 - chance)) ** WORDS_ALONE;
  const byMeaning = Math.min(1, Math.max(0, cosine / SAME));
  return Math.max((byWords + byMeaning) / 2, byMeaning * ALONE);
}

/** Makes a fifth beyond chance as near as half of words and meaning together. */
const WORDS_ALONE = 0.42;
const SAME = 0.8;
/** What means the same in other words is as good as some of the words. */
const ALONE = 0.75;
