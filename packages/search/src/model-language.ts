const LETTERS = /[\p{L}\p{M}]+/gu;
const NOT_ASCII = /[^\p{ASCII}]/u;

/** Words that hold English sentences together, and are no words of their own in the languages that look like it. */
const JOINTS = new Set(
  'the of and is are was were what which who when where how that this with from for did does do has have had by on in to it its not can be or as at an'.split(
    ' ',
  ),
);

/** The same of other languages that are written in these letters: who has more of them than of ours writes in one of those. */
const FOREIGN = new Set(
  (
    'der das und ist nicht ein eine einer eines dem den des von zu mit im auf als wurde wird auch sich nach bei aus wie welche welcher welches wer wann wo viele ' +
    'le la les du et une dans pour que qui sur par avec pas el los las del por con como cual quien cuando donde il lo gli di che della nel sono um uma os dos ' +
    'het een van niet naar zijn och att som det bir bu ve ile olarak ne kim si cu din este care pe ce yang dan ke untuk pada ' +
    'cua nhung cac duoc khong trong va nguoi mot cho voi nam nao dau thi gi'
  ).split(' '),
);

/** The small words of these languages. */
export const SMALL_WORDS: ReadonlySet<string> = new Set([...JOINTS, ...FOREIGN]);

/**
 * True for a text in the language of the model, judged by the model's own words. The vectors of other languages are
 * noise that would push aside what the words find.
 */
export function isModelLanguage(text: string, isKnown: (word: string) => boolean): boolean {
  const words = lettersOf(text);
  if (!mayBeModelLanguage(text) || isForeign(words)) return false;
  const known = knownOf(words, isKnown);
  const isJoined = words.some((word) => JOINTS.has(word));
  return known === undefined ? isJoined : known >= 0.6 || (known >= 0.34 && isJoined);
}

/** The same of a question: it is short, and the words of a trade are in no vocabulary. */
export function isModelQuestion(text: string, isKnown: (word: string) => boolean): boolean {
  const words = lettersOf(text);
  if (!mayBeModelLanguage(text) || isForeign(words)) return false;
  return (knownOf(words, isKnown) ?? 0) >= 0.2 || isModelLanguage(text, isKnown);
}

/** How many of the longer words the model knows as a whole; undefined where there are none. */
function knownOf(words: readonly string[], isKnown: (word: string) => boolean): number | undefined {
  const long = words.filter((word) => word.length >= 4 && !NOT_ASCII.test(word));
  return long.length === 0 ? undefined : long.filter(isKnown).length / long.length;
}

/** True for a text that its letters do not betray as foreign: too little to go by, but better than nothing found. */
export function mayBeModelLanguage(text: string): boolean {
  const words = lettersOf(text);
  const foreign = words.filter((word) => NOT_ASCII.test(word)).length;
  return words.length > 0 && foreign / words.length < 0.15;
}

/** True for words of which more hold sentences of other languages together than English ones. */
export function isForeign(words: readonly string[]): boolean {
  const count = (some: ReadonlySet<string>): number => words.filter((word) => some.has(word)).length;
  return count(FOREIGN) > count(JOINTS);
}

function lettersOf(text: string): string[] {
  return text.slice(0, LOOKED_AT).normalize('NFC').toLowerCase().match(LETTERS) ?? [];
}

/** So much of a text tells its language. */
export const LOOKED_AT = 4_000;
