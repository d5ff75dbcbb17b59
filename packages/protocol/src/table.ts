// oxlint-disable-next-line eslint/no-control-regex -- Colours are no width.
const COLOUR = /(\x1b\[[\d;]*m)/;

/** Rows for a terminal, in columns as wide as they need, two spaces apart; the last one runs free. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, shownLength(cell));
  return rows.map((row) =>
    row
      .map((cell, i) =>
        i === row.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) - shownLength(cell)),
      )
      .join('  ')
      .trimEnd(),
  );
}

/** A line of which no more is shown than fits; the escapes that colour it take no room, and all of them stay. */
export function cutLine(line: string, columns: number): string {
  if (shownLength(line) <= columns) return line;
  let room = columns - 1;
  let marked = false;
  return line
    .split(COLOUR)
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

/** How many columns a text takes; the escapes that colour it take none. */
export function shownLength(text: string): number {
  return text.split(COLOUR).reduce((length, part, i) => length + (i % 2 === 1 ? 0 : part.length), 0);
}
