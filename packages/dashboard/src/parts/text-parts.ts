/** A part of what somebody wrote: words, or the changes of files. */
export interface TextPart {
  kind: 'words' | 'diff';
  text: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/;
/** How a diff begins that stands in no fence. */
const FIRST = /^diff --git a\/|^--- (?:a\/|\/dev\/null)/;
const OF_DIFF =
  /^(?:[ +\-@\\]|diff --git |index [0-9a-f]|new file|deleted file|old mode|new mode|similarity|rename |copy |Binary files |$)/;

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
    const isDiff = fence === null ? end > i : fence[2] === 'diff' || fence[2] === 'patch';
    const shown = fence === null ? lines.slice(i, end) : lines.slice(i + 1, end - 1);
    if (isDiff && isChange(shown)) {
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

/** Where the diff that begins at a line is over; the line itself where none begins. */
function endOfDiff(lines: readonly string[], from: number): number {
  if (!FIRST.test(lines[from] ?? '')) return from;
  let end = from + 1;
  while (end < lines.length && OF_DIFF.test(lines[end] ?? '')) end++;
  // Empty lines at its end belong to what follows.
  while (end > from && lines[end - 1] === '') end--;
  return lines.slice(from, end).some((line) => line.startsWith('@@ ')) ? end : from;
}

function isChange(lines: readonly string[]): boolean {
  return lines.some((line) => /^[+-]/.test(line));
}
