import {
  ASSIGNED,
  ASSIGNS,
  CALL,
  HEADER_NAME,
  IN_ADDRESS,
  KNOWN,
  LINE,
  OPENING,
  PEM_BLOCK,
  PEM_END,
  PEM_LETTER,
  PLAIN,
  SECRET_NAME,
  SHORTEST_KEY,
  STAND_IN,
  VALUE,
} from './secret-patterns.ts';

/** What stands where a secret was. */
const HIDDEN = '[redacted]';

/** How much is looked at in one go: an expression may not take a text of any length. */
const PIECE = 1_000_000;
/** How far back a place is looked for at which no secret is cut in two. */
const SEAM = 65_536;

/**
 * Takes out of a text what looks like a secret: keys known by their beginning, tokens, PEM blocks, passwords in
 * addresses, and whatever is given to a name such as password, secret, token or api_key. A text is to be given whole:
 * half a key is not known. Time grows with the length of the text and no faster, whatever it holds.
 */
export function hideSecrets(text: string): string {
  if (text.length <= PIECE) return hideIn(text);
  let hidden = '';
  for (let from = 0; from < text.length;) {
    const to = text.length - from <= PIECE ? text.length : seamBefore(text, from + PIECE);
    hidden += hideIn(text.slice(from, to));
    from = to;
  }
  return hidden;
}

function seamBefore(text: string, at: number): number {
  const last = text.slice(at - SEAM, at);
  const seam = ['\n', ' ', ','].map((sign) => last.lastIndexOf(sign)).find((found) => found >= 0);
  return seam === undefined ? at : at - SEAM + seam + 1;
}

function hideIn(text: string): string {
  const blocks = text.includes('-----') ? hideBlocks(text) : text;
  const known = blocks.length < SHORTEST_KEY ? blocks : blocks.replaceAll(KNOWN, hideKnown);
  return hideAssigned(
    known.includes('://')
      ? known.replaceAll(IN_ADDRESS, (_all, at: string, user = '') => `${at}${user}${HIDDEN}@`)
      : known,
  );
}

/** The same for every string of a value as JSON has them, and for all that stands under the name of a secret. */
export function hideSecretsIn<T>(value: T): T;
export function hideSecretsIn(value: unknown): unknown {
  if (typeof value === 'string') return hideSecrets(value);
  if (Array.isArray(value)) return value.map((item) => hideSecretsIn<unknown>(item));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value);
  for (const entry of entries) {
    const [name, item]: [string, unknown] = entry;
    entry[1] = isSecret(name, item) ? HIDDEN : hideSecretsIn(item);
    entry[0] = hideSecrets(name);
  }
  return Object.fromEntries(entries);
}

function isSecret(name: string, item: unknown): boolean {
  if (typeof item !== 'number' && typeof item !== 'string') return false;
  return SECRET_NAME.test(name) && !isStandIn(String(item));
}

function isStandIn(value: string): boolean {
  return PLAIN.test(value) || STAND_IN.test(value);
}

function hideKnown(found: string): string {
  if (found.startsWith('eyJ')) return /\.[A-Za-z0-9_-]{4}/.test(found) ? HIDDEN : found;
  if (/^basic/i.test(found)) return isLogin(found.slice(5).trim()) ? HIDDEN : found;
  if (!/^bearer/i.test(found)) return HIDDEN;
  const token = found.replace(/^bearer(?:[ \t]+|\.|%20)/i, '');
  const isWord = /^[A-Za-z]?[a-z]*[.]?$/.test(token);
  return token.length >= 16 || !isWord ? HIDDEN : found;
}

/** True for a name and its password in base64, and for no word that happens to consist of the same letters. */
function isLogin(encoded: string): boolean {
  try {
    return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(atob(encoded));
  } catch {
    return false;
  }
}

/** Takes out blocks, whole or cut at either end. */
function hideBlocks(text: string): string {
  const begun = text.replaceAll(PEM_BLOCK, HIDDEN);
  let kept = '';
  let from = 0;
  for (const { 0: end, index } of begun.matchAll(PEM_END)) {
    let start = index;
    while (start > from && PEM_LETTER.test(begun.charAt(start - 1))) start--;
    kept += `${begun.slice(from, start)}${HIDDEN}`;
    from = index + end.length;
  }
  return kept + begun.slice(from);
}

function hideAssigned(text: string): string {
  if (!ASSIGNS.test(text)) return text;
  let kept = '';
  let from = 0;
  ASSIGNED.lastIndex = 0;
  for (let found = ASSIGNED.exec(text); found !== null; found = ASSIGNED.exec(text)) {
    const { start, end } = valueAt(text, ASSIGNED.lastIndex, HEADER_NAME.test(found[1] ?? ''));
    ASSIGNED.lastIndex = Math.max(end, ASSIGNED.lastIndex);
    if (isHarmless(found, text.slice(start, end))) continue;
    kept += `${text.slice(from, start)}${HIDDEN}`;
    from = end;
  }
  return from === 0 ? text : kept + text.slice(from);
}

function isHarmless([all, name, flag]: RegExpExecArray, value: string): boolean {
  if (isStandIn(value)) return true;
  if (flag !== undefined) return value.startsWith('-');
  // The folder that a shell is in, and code that fetches what it does not hold.
  return (/^pwd$/i.test(name ?? '') && value.startsWith('/')) || (/\s$/.test(all) && CALL.test(value));
}

/** Where the value that begins here stands: within its quotes, to the end of a header, or up to what ends a word. */
function valueAt(text: string, at: number, isHeader: boolean): { start: number; end: number } {
  OPENING.lastIndex = at;
  const opened = OPENING.exec(text);
  if (opened !== null) {
    const start = OPENING.lastIndex;
    return { start, end: closing(text, start, opened[2] ?? '"', opened[1]?.length ?? 0) };
  }
  const ends = isHeader ? LINE : VALUE;
  ends.lastIndex = at;
  return { start: at, end: at + (ends.exec(text)?.[0].length ?? 0) };
}

/** Where a quote is closed that was opened with so many backslashes; at the end of the line if nowhere. */
function closing(text: string, from: number, quote: string, depth: number): number {
  let slashes = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '\n') return at;
    if (char === quote && slashes <= depth) return at - slashes;
    slashes = char === '\\' ? slashes + 1 : 0;
  }
  return text.length;
}
