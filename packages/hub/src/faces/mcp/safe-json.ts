import { seenJson, showUnseenLine } from '@parley/protocol';

/** A `<` that opens something like a model's own markup. */
const TAG = /<(?=[A-Za-z/!?|])/g;

/** JSON that parses to exactly the same value, yet shows a model nothing hidden and no tag. */
export function safeJson(value: unknown): string {
  return seenJson(value).replaceAll(TAG, '\\u003c');
}

/** One line of text in which nothing is hidden, for names in lists. */
export function safeLine(text: string, maxLength: number): string {
  const line = text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text;
  return showUnseenLine(line).replaceAll(TAG, '\\u003c');
}
