/**
 * The one table of characters that act on a terminal, reorder a line, or are there without being seen: controls (C0,
 * DEL, C1), format characters (zero-width, word joiner, soft hyphen, direction marks, invisible operators, tags),
 * line and paragraph separators, all that Unicode calls default-ignorable (variation selectors, fillers), halves of
 * characters, and code points that are no characters.
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** The letters and marks of scripts whose spelling needs joiners: Arabic and its kin, those of India and around it. */
const JOINED =
  /^[\p{scx=Arab}\p{scx=Syrc}\p{scx=Nkoo}\p{scx=Mong}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]$/u;
const PICTURE = /^\p{Extended_Pictographic}$/u;
const LOOK = /^[\p{Emoji_Modifier}\uFE0E\uFE0F]$/u;

/** The black flag and the tags that make it that of England, Scotland or Wales. */
const FLAGS = ['gbeng', 'gbsct', 'gbwls'].map((region) => {
  const tags = Array.from(region, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)));
  return `\u{1F3F4}${tags.join('')}\u{E007F}`;
});

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Text of others for a terminal or a model: what is not seen is shown as `\u{…}`; line feeds and tabs stay. */
export function showUnseen(text: string): string {
  return replaceUnseen(text.replaceAll('\r\n', '\n'), (char) =>
    char === '\n' || char === '\t' ? char : named(char),
  );
}

/** The same on one line. */
export function showUnseenLine(text: string): string {
  return replaceUnseen(text, (char) => SHORT[char] ?? named(char));
}

/** JSON that parses to exactly the same value and holds nothing that is not seen. */
export function seenJson(value: unknown): string {
  return replaceUnseen(JSON.stringify(value), escapedUnits);
}

function replaceUnseen(text: string, replacement: (char: string) => string): string {
  return text.replaceAll(UNSEEN, (char, at: number) => (isSeen(text, char, at) ? char : replacement(char)));
}

/**
 * True where a reader sees what such a character does, and needs it: the one selector of a picture's look, a key cap,
 * a joiner between two pictures, the tags of a flag, and in a script that is spelt with them a joiner between two
 * letters or at the end of a word.
 */
function isSeen(text: string, char: string, at: number): boolean {
  const code = char.charCodeAt(0);
  if (code === 0xfe0f || code === 0xfe0e) {
    const before = charBefore(text, at);
    return PICTURE.test(before) || (/^[0-9#*]$/.test(before) && text[at + 1] === '\u20E3');
  }
  if (code === 0x200c) return isJoined(charBefore(text, at)) && isJoined(charAt(text, at + 1));
  if (code === 0x200d) {
    const before = charBefore(text, at);
    const after = charAt(text, at + 1);
    if (isJoined(before)) return after === '' || !isUnseen(after);
    const picture = LOOK.test(before) ? charBefore(text, at - before.length) : before;
    return PICTURE.test(picture) && PICTURE.test(after);
  }
  // The first half of every tag.
  return code === 0xdb40 && FLAGS.some((flag) => isWithin(text, at, flag));
}

/** True where one of the tags of this flag stands, and the flag around it. */
function isWithin(text: string, at: number, flag: string): boolean {
  for (let tag = 2; tag < flag.length; tag += 2) if (text.startsWith(flag, at - tag)) return true;
  return false;
}

function isJoined(char: string): boolean {
  return JOINED.test(char) && !isUnseen(char);
}

function isUnseen(char: string): boolean {
  return char.search(UNSEEN) === 0;
}

function charAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function charBefore(text: string, at: number): string {
  const pair = charAt(text, at - 2);
  return pair.length === 2 ? pair : text.slice(Math.max(0, at - 1), at);
}

function named(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

function escapedUnits(char: string): string {
  let text = '';
  for (let i = 0; i < char.length; i++) text += `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return text;
}
