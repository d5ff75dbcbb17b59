/** Signs that are written or left out as one likes, and no letters: joiners, soft hyphens, the stroke that stretches Arabic. */
const OPTIONAL = /[\u00ad\u0640\u200b-\u200d]/g;
/** Vowel signs of Arabic, which hardly anybody writes, and the dot below of Hindi. */
const OPTIONAL_MARKS = /[\u064b-\u0655\u0670\u093c]/g;
/** Letters of which people take the one for the other. */
const SAME: Record<string, string> = {
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ٱ: 'ا',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ة: 'ه',
  ё: 'е',
  '\u0901': '\u0902',
};
const TO_SAME = new RegExp(`[${Object.keys(SAME).join('')}]`, 'g');
const FOREIGN_DIGIT = /(?![0-9])\p{Nd}/gu;

/** A text in which words that are one and the same are written alike, whatever the keyboard. */
export function alike(text: string): string {
  return text
    .replaceAll(OPTIONAL, '')
    .replaceAll(OPTIONAL_MARKS, '')
    .replaceAll(TO_SAME, (letter) => SAME[letter] ?? letter)
    .replaceAll(FOREIGN_DIGIT, (digit) => String(valueOf(digit)));
}

/** Digits of a script stand in a row of ten, from nought. */
function valueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (code - first < 9 && /\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
  return (code - first) % 10;
}

/** What is taken from the words of a script: at most one beginning and one ending, the longest, if so many letters stay. */
interface Endings {
  script: RegExp;
  before: RegExp;
  after: RegExp;
  least: number;
}

const ending = (words: string): RegExp => new RegExp(`(?:${longestFirst(words)})$`);
const beginning = (words: string): RegExp => new RegExp(`^(?:${longestFirst(words)})`);
const longestFirst = (words: string): string =>
  words
    .split(' ')
    .toSorted((a, b) => b.length - a.length)
    .join('|');
const NONE = /(?!)/;

/** The commonest endings of case, number and gender; English has the stemmer of the index. */
const ENDINGS: Endings[] = [
  {
    script: /^\p{Script=Devanagari}/u,
    before: NONE,
    after: ending('ो े ू ु ी ि ा ं ों ें ीं ाओं ाएं ुओं ुएं ियों ियां ियाँ ाएगा ाएगी ता ती ते ना नी ने ाया ाई ाए कर'),
    least: 2,
  },
  {
    script: /^\p{Script=Arabic}/u,
    before: beginning('ال وال بال كال فال لل و'),
    after: ending('ها ان ات ون ين يه يه ه ي'),
    least: 3,
  },
  {
    script: /^\p{Script=Cyrillic}/u,
    before: NONE,
    after: ending(
      'а я о е и ы у ю й ь ов ев ей ий ый ой ая яя ое ее ие ые ам ям ом ем им ым ах ях ых их ами ями ыми ими его ого ему ому ую юю ия ии ию ием иям иями иях ть ет ит ют ат ят ал ала ало али ил ила ило или ся',
    ),
    least: 3,
  },
];

/** A word without what its place in a sentence puts around it, in scripts for which the index has no stemmer. */
export function stemOf(word: string): string {
  const endings = ENDINGS.find(({ script }) => script.test(word));
  if (endings === undefined) return word;
  const { before, after, least } = endings;
  const cut = (from: string, part: RegExp): string => {
    const left = from.replace(part, '');
    return left.length >= least ? left : from;
  };
  return cut(cut(word, before), after);
}
