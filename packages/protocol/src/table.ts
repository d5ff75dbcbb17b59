// oxlint-disable-next-line eslint/no-control-regex -- Colours are no width.
const COLOUR = /(\x1b\[[\d;]*m)/;
/** What terminals give two columns: scripts of the East, and pictures. */
const WIDE =
  /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
/** What stands upon or joins its neighbours. */
const NARROW = /[\p{Mn}\p{Me}\u200c\u200d]/u;

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
      let kept = '';
      for (const sign of part) {
        room -= widthOf(sign);
        if (room >= 0) kept += sign;
      }
      if (room >= 0 || marked) return kept;
      marked = true;
      return `${kept}…`;
    })
    .join('');
}

/** How many columns a text takes; the escapes that colour it take none. */
export function shownLength(text: string): number {
  return text.split(COLOUR).reduce((length, part, i) => length + (i % 2 === 1 ? 0 : columnsOf(part)), 0);
}

function columnsOf(text: string): number {
  let columns = 0;
  for (const sign of text) columns += widthOf(sign);
  return columns;
}

function widthOf(sign: string): number {
  if (sign.length === 1 && sign < '\u0300') return 1;
  if (NARROW.test(sign)) return 0;
  return WIDE.test(sign) ? 2 : 1;
}
