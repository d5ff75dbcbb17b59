/** A name that is being written: where it begins, and how much of it is there. */
export interface Mention {
  start: number;
  end: number;
  word: string;
}

/** The name at the caret, wherever in the text that is; undefined when none is being written. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const found = /(^|[^\p{L}\p{N}_.@-])@([\w.:@-]*)$/u.exec(text.slice(0, caret));
  if (found === null) return undefined;
  const [, before = '', word = ''] = found;
  const rest = /^[\w.:-]*/.exec(text.slice(caret))?.[0] ?? '';
  return { start: found.index + before.length, end: caret + rest.length, word };
}

/** The text with a name put in, and where the caret stands then. */
export function withMention(
  text: string,
  { start, end }: Mention,
  name: string,
): { text: string; caret: number } {
  const after = text.slice(end);
  // A space is there already, or a sign follows at once.
  const gap = /^[\s,.;:!?)\]]/.test(after) ? '' : ' ';
  return {
    text: `${text.slice(0, start)}@${name}${gap}${after}`,
    caret: start + name.length + 1 + (gap === '' ? (/^\s/.test(after) ? 1 : 0) : 1),
  };
}

/** Those whose names begin so, and then those that have it anywhere. */
export function namesFor(word: string, names: readonly string[], limit: number): string[] {
  const low = word.toLowerCase();
  const begins = names.filter((name) => name.toLowerCase().startsWith(low));
  const holds = names.filter((name) => !begins.includes(name) && name.toLowerCase().includes(low));
  return [...begins, ...holds].slice(0, limit);
}
