import { namesFile } from './text-parts.ts';

/** A line of a diff, with where it stands in the file before and after. */
export interface DiffLine {
  mark: '+' | '-' | ' ';
  text: string;
  old?: number;
  fresh?: number;
}

/** What a diff changes in one file. */
export interface DiffFile {
  name: string;
  note?: string;
  hunks: { head: string; lines: DiffLine[] }[];
}

/** The files of a diff; one without names is one file of no name. */
export function filesOf(diff: string): DiffFile[] {
  const files: DiffFile[] = [];
  let file: DiffFile | undefined;
  let hunk: DiffFile['hunks'][number] | undefined;
  let [old, fresh] = [0, 0];
  const begin = (name: string): DiffFile => {
    hunk = undefined;
    file = { name, hunks: [] };
    files.push(file);
    return file;
  };
  const all = diff.split('\n');
  for (const [i, line] of all.entries()) {
    const git = /^diff --git a\/(.*) b\/(.*)$/.exec(line);
    const at = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line);
    if (git !== null) begin(git[2] ?? '');
    // Inside a hunk it may be a line that goes, which began with two strokes itself.
    else if (hunk === undefined ? line.startsWith('--- ') : namesFile(all, i)) {
      if (file === undefined || file.hunks.length > 0) begin(nameIn(line));
    } else if (hunk === undefined && line.startsWith('+++ ')) {
      if (file !== undefined && !line.endsWith('/dev/null')) file.name = nameIn(line);
    } else if (at !== null) {
      [old, fresh] = [Number(at[1]), Number(at[2])];
      const { hunks } = file ?? begin('');
      hunk = { head: at[3] ?? '', lines: [] };
      hunks.push(hunk);
    } else if (/^(new|deleted) file|^rename to|^Binary files/.test(line) && hunk === undefined) {
      if (file !== undefined) file.note = line;
    } else if (/^[ +-]/.test(line) || (line === '' && hunk !== undefined)) {
      if (hunk === undefined) {
        const { hunks } = file ?? begin('');
        hunk = { head: '', lines: [] };
        hunks.push(hunk);
        [old, fresh] = [1, 1];
      }
      // Only lines that begin so are taken.
      const mark = (line[0] ?? ' ') as DiffLine['mark'];
      const one: DiffLine = { mark, text: line.slice(1) };
      if (mark !== '+') one.old = old++;
      if (mark !== '-') one.fresh = fresh++;
      hunk.lines.push(one);
    }
  }
  return files;
}

function nameIn(line: string): string {
  return (line.slice(4).split('\t')[0] ?? '').replace(/^[ab]\//, '');
}
