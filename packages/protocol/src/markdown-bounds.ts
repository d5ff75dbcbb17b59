/** Deeper quotes and lists, longer words, wider gaps and larger tables than anyone writes by hand. */
const MAX_DEPTH = 20;
const MAX_INDENT = 80;
const MAX_WORD = 2_000;
const MAX_GAP = 500;
const MAX_CELLS = 50_000;
/** Lines of one list without a blank line between them: to parse them takes time that grows with their square. */
const MAX_LIST_LINES = 1_000;

/** The marks that begin a line, each of which opens a quote or a list inside the one before; with or without spaces. */
const OPENING = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)))+/;
const LIST = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
/** What stands between the head and the rows of a table. */
const RULE = /^[ \t|:-]*-[ \t|:-]*$/;
const BLANK = /^[ \t>]*$/;
const INDENT = /^[ \t]*/;

/**
 * Whether Markdown of others can be parsed in time and depth that its length bounds. What cannot is shown as it is: it
 * was written to hold somebody up. Looks at each line once.
 */
export function isBoundedMarkdown(text: string): boolean {
  let listLines = 0;
  let columns = 0;
  let cells = 0;
  for (const line of text.split('\n')) {
    if (hasLongRun(line) || depthOf(line) > MAX_DEPTH || indentOf(line) > MAX_INDENT) return false;
    if (BLANK.test(line)) {
      listLines = 0;
      columns = 0;
      continue;
    }
    if (listLines > 0 || LIST.test(line)) listLines += 1;
    if (columns > 0 || RULE.test(line)) {
      columns = Math.max(columns, count(line, '|') + 1);
      cells += columns;
    }
    if (listLines > MAX_LIST_LINES || cells > MAX_CELLS) return false;
  }
  return true;
}

function depthOf(line: string): number {
  const [opening = ''] = OPENING.exec(line) ?? [];
  let depth = 0;
  for (const char of opening) if ('>-*+.)'.includes(char)) depth += 1;
  return depth;
}

function indentOf(line: string): number {
  const [indent = ''] = INDENT.exec(line) ?? [];
  return indent.length === line.length ? 0 : indent.length + 3 * count(indent, '\t');
}

/** True for a word or a gap in a line that is too long: it is looked at again from each of its characters. */
function hasLongRun(line: string): boolean {
  let run = 0;
  let gap = false;
  for (let at = 0; line.length > MAX_GAP && at < line.length; at++) {
    const blank = line[at] === ' ' || line[at] === '\t';
    run = blank === gap ? run + 1 : 1;
    gap = blank;
    if (run > (gap ? MAX_GAP : MAX_WORD)) return true;
  }
  return false;
}

function count(text: string, char: string): number {
  let found = 0;
  for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) found += 1;
  return found;
}
