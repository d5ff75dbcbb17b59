/** Rows under a head, in columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return columns([head, ...rows]);
}

/** Rows in columns. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
