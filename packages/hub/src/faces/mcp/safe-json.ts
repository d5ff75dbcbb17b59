/**
 * What can steer a terminal or a reader without being seen, or looks like a model's own markup: control and format
 * characters (ESC, bidi overrides, zero-width and tag characters), line separators, hidden variation selectors, and
 * a `<` that opens a tag.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{E0100}-\u{E01EF}]|<(?=[A-Za-z/!?|])/gu;

/** JSON that parses to exactly the same value, yet shows a model no hidden character and no tag. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, escape);
}

/** One line of text in which nothing is hidden, for names in lists. */
export function safeLine(text: string, maxLength: number): string {
  const line = text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text;
  return line.replace(UNSAFE, escape);
}

function escape(char: string): string {
  let text = '';
  for (let i = 0; i < char.length; i++) text += `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return text;
}
