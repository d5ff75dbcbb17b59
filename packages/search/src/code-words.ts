/** A name in code whose words are told by their capitals: `parseConfigFile`, `HTTPServer`. */
const HUMPED = /\b(?=[A-Za-z0-9]*(?:[a-z]{2}[A-Z]|[A-Z]{2}[a-z]{2}))[A-Za-z0-9]{4,100}\b/g;
const HUMP = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})/;
/** Words and numbers put together without a space: a path, a version, `snake_case`, `KNOW-17`. */
const CHAIN = /(?<![A-Za-z0-9])[A-Za-z0-9]+(?:(?:[._/\\:@#-]|::)[A-Za-z0-9]+)+/g;
const IS_CODE = /\d|[._/\\:@#]/;
const LONGEST_CHAIN = 200;
/** A number that a few capitals stand before: `TS2345`. */
const CODE = /\b[A-Z]{1,6}(\d{3,})\b/g;

/**
 * What names in code, paths, versions and error codes are found by besides their words: names with capitals by their
 * parts, all others as a whole, in lower case.
 */
export function codeWords(text: string): string[] {
  const found: string[] = [];
  for (const [name] of text.matchAll(HUMPED)) found.push(...partsOf(name).filter(({ length }) => length > 1));
  for (const [chain] of text.matchAll(CHAIN))
    if (IS_CODE.test(chain) && chain.length <= LONGEST_CHAIN) found.push(...wholesOf(chain));
  for (const [, number = ''] of text.matchAll(CODE)) found.push(number);
  return found.map((word) => word.toLowerCase());
}

/** A text with the words of such names apart, as one would say them; names that `isKnown` has as a whole stay. */
export function spellOut(text: string, isKnown: (word: string) => boolean = () => false): string {
  return text.replaceAll(HUMPED, (name) => (isKnown(name.toLowerCase()) ? name : partsOf(name).join(' ')));
}

function partsOf(name: string): string[] {
  return name.split(HUMP);
}

/** `get_user_name` is the same as getUserName; of a version its beginnings, of a path its last part are wholes too. */
function wholesOf(chain: string): string[] {
  if (/^[A-Za-z0-9_]+$/.test(chain)) return [chain.replaceAll('_', '')];
  const parts = chain.replace(/^v(?=\d)/i, '').split(/[._/\\:@#-]+/);
  if (parts.every((part) => /^\d+$/.test(part)))
    return parts.slice(1).map((_, i) => parts.slice(0, i + 2).join('_'));
  const last = chain.split(/[/\\]/).at(-1) ?? '';
  return [parts, last.split(/[._:@#-]+/)]
    .filter(({ length }) => length > 1)
    .map((one) => one.join('_'))
    .filter((one, i, all) => all.indexOf(one) === i);
}
