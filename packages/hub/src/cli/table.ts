import { stripVTControlCharacters } from 'node:util';

/** Rows in columns as wide as they need, two spaces apart; the last one runs free. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) - width(cell))))
      .join('  ')
      .trimEnd(),
  );
}

/** Lines cut to the width of the terminal, so that each stays one; whole where nobody looks. */
export function fitted(lines: readonly string[]): string[] {
  const { columns, isTTY } = process.stdout;
  if (!isTTY) return [...lines];
  return lines.map((line) => (width(line) <= columns ? line : cut(line, columns)));
}

function width(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** The escapes that colour a text take no room, and those after the cut must still come. */
function cut(line: string, columns: number): string {
  let room = columns - 1;
  let marked = false;
  return line
    .split(ESCAPE)
    .map((part, i) => {
      if (i % 2 === 1) return part;
      const kept = part.slice(0, Math.max(0, room)).replace(/[\uD800-\uDBFF]$/, '');
      room -= part.length;
      if (room >= 0 || marked) return kept;
      marked = true;
      return `${kept}…`;
    })
    .join('');
}

// oxlint-disable-next-line eslint/no-control-regex
const ESCAPE = /(\x1b\[[\d;]*m)/;
