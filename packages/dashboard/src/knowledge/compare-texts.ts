import { diffLines, diffWordsWithSpace } from 'diff';

/** Longer lines, and more of them, are compared as a whole. */
const LONG_LINE = 2_000;
const MOST_COMPARED = 200;
/** To compare texts that have little in common takes time that grows with the square of their length: so long it may. */
export const COMPARING_MS = 500;
const COMPARING_LINE_MS = 20;

/** A line of one text or of both. */
export interface Line {
  mark: '+' | '-' | ' ';
  text: string;
  /** Its other half, where a line was only changed: then the words that differ are shown. */
  other?: string;
}

/** Two lines word by word; undefined for those that have too little in common. */
export function compareWords(before: string, after: string) {
  return diffWordsWithSpace(before, after, { timeout: COMPARING_LINE_MS });
}

/** Two texts line by line; those that have too little in common stand one after the other as a whole. */
export function compareLines(before: string, after: string): Line[] {
  const lines: Line[] = [];
  // A last line without its end would differ from the same line with one.
  const found = diffLines(whole(before), whole(after), { timeout: COMPARING_MS });
  const changes = found ?? replaced(before, after);
  let left = found === undefined ? 0 : MOST_COMPARED;
  for (const [i, { value, added, removed }] of changes.entries()) {
    const texts = value.replace(/\n$/, '').split('\n');
    const next = changes[i + 1];
    const last = changes[i - 1];
    // As many lines old as new, side by side: they were changed, not put in another's place.
    const pair = removed && next?.added ? next : added && last?.removed ? last : undefined;
    const others = pair?.value.replace(/\n$/, '').split('\n');
    const paired = others !== undefined && others.length === texts.length;
    for (const [k, text] of texts.entries()) {
      const other = paired ? others[k] : undefined;
      const short = other !== undefined && text.length < LONG_LINE && other.length < LONG_LINE;
      const compared = short && left-- > 0;
      lines.push({
        mark: added ? '+' : removed ? '-' : ' ',
        text,
        ...(compared ? { other } : {}),
      });
    }
  }
  return lines;
}

/** One text in the place of another. */
function replaced(before: string, after: string) {
  return [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
}

function whole(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
