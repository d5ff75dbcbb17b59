const LETTERS = /[\p{L}\p{M}]+/gu;
const NOT_ASCII = /[^\p{ASCII}]/u;

/** Words that hold English sentences together, and are no words of their own in the languages that look like it. */
const JOINTS = new Set(
  'the of and is are was were what which who when where how that this with from for did does do has have had by on in to it its not can be or as at an'.split(
    ' ',
  ),
);

/**
 * True for a text in the language of the model, judged by the model's own words. The vectors of other languages are
 * noise that would push aside what the words find.
 */
export function isModelLanguage(text: string, isKnown: (word: string) => boolean): boolean {
  const words = lettersOf(text);
  if (!mayBeModelLanguage(text)) return false;
  const long = words.filter((word) => word.length >= 4 && !NOT_ASCII.test(word));
  if (long.length === 0) return words.some((word) => JOINTS.has(word));
  const known = long.filter(isKnown).length / long.length;
  return known >= 0.6 || (known >= 0.34 && words.some((word) => JOINTS.has(word)));
}

/** True for a text that its letters do not betray as foreign: too little to go by, but better than nothing found. */
export function mayBeModelLanguage(text: string): boolean {
  const words = lettersOf(text);
  const foreign = words.filter((word) => NOT_ASCII.test(word)).length;
  return words.length > 0 && foreign / words.length < 0.15;
}

function lettersOf(text: string): string[] {
  return text.slice(0, LOOKED_AT).normalize('NFC').toLowerCase().match(LETTERS) ?? [];
}

const LOOKED_AT = 4_000;
