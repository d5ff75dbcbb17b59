/** Control characters of every kind, and marks that reorder or break lines. */
const HARMFUL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Someone else's text on one line, unable to move the cursor, change colours or forge a line. */
export function oneLine(text: string): string {
  return text.replaceAll(HARMFUL, (char) => SHORT[char] ?? escaped(char));
}

/** Someone else's text line by line, each as harmless as the next. */
export function harmlessLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => line.split('\t').map(oneLine).join('  '));
}

/** JSON that reads the same and holds no raw control character, for those who print it to a terminal. */
export function harmlessJson(data: unknown): string {
  return JSON.stringify(data).replaceAll(HARMFUL, escaped);
}

function escaped(char: string): string {
  return `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
