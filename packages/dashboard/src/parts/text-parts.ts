/** A part of what somebody wrote: words, or the changes of files. */
export interface TextPart {
  kind: 'words' | 'diff';
  text: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/;
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
/** What stands between the changes of a diff, and tells of files. */
const ABOUT =
  /^(?:diff --git |index [0-9a-f]|new file|deleted file|old mode|new mode|(?:dis)?similarity|rename |copy |Binary files )/;

/** Takes a text apart where changes of files are shown, in a fence or without one. */
export function partsOf(text: string): TextPart[] {
  const lines = text.split('\n');
  const parts: TextPart[] = [];
  let words: string[] = [];
  const put = (kind: TextPart['kind'], some: readonly string[]): void => {
    const joined = some.join('\n').replace(/^\n+|\s+$/g, '');
    if (joined !== '') parts.push({ kind, text: joined });
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const fence = FENCE.exec(line);
    const end = fence === null ? endOfDiff(lines, i) : endOfFence(lines, i, fence[1] ?? '');
    const shown = fence === null ? lines.slice(i, end) : lines.slice(i + 1, end - 1);
    if (fence === null ? end > i : /^(?:diff|patch)$/.test(fence[2] ?? '') && isChange(shown)) {
      put('words', words);
      words = [];
      put('diff', shown);
    } else {
      words.push(...lines.slice(i, Math.max(end, i + 1)));
    }
    i = Math.max(end, i + 1) - 1;
  }
  put('words', words);
  return parts;
}

/** Where the fence that begins at a line is over; one that is never closed goes to the end. */
function endOfFence(lines: readonly string[], from: number, mark: string): number {
  for (let i = from + 1; i < lines.length; i++)
    if ((lines[i] ?? '').trim().startsWith(mark) && /^\s*[`~]+\s*$/.test(lines[i] ?? '')) return i + 1;
  return lines.length + 1;
}

/** True where a change of one more file begins by its two names. */
export function namesFile(lines: readonly string[], at: number): boolean {
  return (
    /^--- \S/.test(lines[at] ?? '') &&
    /^\+\+\+ \S/.test(lines[at + 1] ?? '') &&
    HUNK.test(lines[at + 2] ?? '')
  );
}

/** Where the diff that begins at a line is over; the line itself where none begins. */
function endOfDiff(lines: readonly string[], from: number): number {
  const first = lines[from] ?? '';
  if (!first.startsWith('diff --git a/') && !HUNK.test(first) && !namesFile(lines, from)) return from;
  // So many lines a hunk says it has, of the file before and after.
  let [old, fresh] = [0, 0];
  let end = from;
  for (; end < lines.length; end++) {
    const line = lines[end] ?? '';
    const hunk = HUNK.exec(line);
    if (hunk !== null) [old, fresh] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
    else if (namesFile(lines, end)) end++;
    else if (old > 0 || fresh > 0) {
      if (!/^(?:[ +\-\\]|$)/.test(line)) break;
      if (!/^[+\\]/.test(line)) old--;
      if (!/^[-\\]/.test(line)) fresh--;
      // Whoever counted wrong is believed as long as no line is empty: what follows one may be a list.
    } else if (!/^[ +\-\\]/.test(line) && !ABOUT.test(line)) break;
  }
  // Empty lines at its end belong to what follows.
  while (end > from && lines[end - 1] === '') end--;
  return lines.slice(from, end).some((line, i) => HUNK.test(line) || (i > 0 && ABOUT.test(line)))
    ? end
    : from;
}

function isChange(lines: readonly string[]): boolean {
  return lines.some((line) => /^[+-]/.test(line));
}
