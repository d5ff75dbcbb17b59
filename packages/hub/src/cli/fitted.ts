import { cutLine, shownLength, table } from '@parley/protocol';

/** How a column gives way where a terminal is too narrow for all of them; the last one takes what is left. */
export interface Column {
  /** No wider than this. */
  most?: number;
  /** Left out before the last column suffers; the later ones first. */
  spare?: true;
}

/** Of the last column at least so much is shown: it says why, or what would be run. */
const LAST = 32;
/** No column is cut to less. */
const LEAST = 6;
const GAP = 2;

/** A table that fits the terminal, a line a row; where nobody looks it is whole. A terminal that knows no width has 80. */
export function fittedTable(rows: readonly (readonly string[])[], columns: readonly Column[] = []): string[] {
  const { columns: width, isTTY } = process.stdout;
  return isTTY ? fitTable(rows, columns, width > 0 ? width : 80) : table(rows);
}

/** A table within so many columns. */
export function fitTable(
  rows: readonly (readonly string[])[],
  columns: readonly Column[],
  width: number,
): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const natural = Array.from({ length: count }, (_, i) =>
    Math.max(0, ...rows.map((row) => shownLength(row[i] ?? ''))),
  );
  const widths = natural.map((size, i) =>
    i === count - 1 ? size : Math.min(size, columns[i]?.most ?? size),
  );
  const room = width - Math.min(widths.at(-1) ?? 0, LAST);
  let kept = widths.map((_, i) => i);
  const taken = (): number => kept.slice(0, -1).reduce((sum, i) => sum + (widths[i] ?? 0) + GAP, 0);
  for (const i of kept.toReversed())
    if (taken() > room && columns[i]?.spare === true) kept = kept.filter((one) => one !== i);
  while (taken() > room) {
    const widest = kept
      .slice(0, -1)
      .reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a), kept[0] ?? 0);
    const size = widths[widest] ?? 0;
    if (size <= LEAST) break;
    widths[widest] = size - 1;
  }
  const last = kept.at(-1);
  const cut = rows.map((row) =>
    kept.map((i) => (i === last ? (row[i] ?? '') : cutLine(row[i] ?? '', widths[i] ?? 0))),
  );
  return table(cut).map((line) => cutLine(line, width));
}
