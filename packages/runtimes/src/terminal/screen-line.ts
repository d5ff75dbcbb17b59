import type { IBufferCell, IBufferLine } from '@xterm/headless';

/** One row of a screen as it looks: its text, and runs that say how much of it is marked in which way. */
export interface ScreenLine {
  text: string;
  /** `5;f1;o 3`: five characters in colour 1 and bold, then three plain ones. Empty where all is plain. */
  runs: string;
}

/** A row of the hidden terminal as text and runs. A wide character is a run of its own, so that it can be put in its cells. */
export function readLine(row: IBufferLine | undefined, cols: number, cell: IBufferCell): ScreenLine {
  const parts: { text: string; marks: string }[] = [];
  for (let x = 0; x < cols; x++) {
    const found = row?.getCell(x, cell);
    // The second half of a wide character has no text of its own.
    if (found === undefined || found.getWidth() === 0) continue;
    const isWide = found.getWidth() > 1;
    const marks = marksOf(found) + (isWide ? ';w' : '');
    const text = found.getChars() || ' ';
    const last = parts.at(-1);
    if (last !== undefined && last.marks === marks && !isWide) last.text += text;
    else parts.push({ text, marks });
  }
  const end = parts.at(-1);
  if (end?.marks === '') end.text = end.text.trimEnd();
  if (end?.text === '') parts.pop();
  const isPlain = parts.every(({ marks }) => marks === '');
  return {
    text: parts.map(({ text }) => text).join(''),
    runs: isPlain ? '' : parts.map(({ text, marks }) => `${text.length}${marks}`).join(' '),
  };
}

function marksOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return '';
  return [
    colour(cell.isFgPalette(), cell.isFgRGB(), cell.getFgColor(), 'f', 'F'),
    colour(cell.isBgPalette(), cell.isBgRGB(), cell.getBgColor(), 'b', 'B'),
    cell.isBold() ? ';o' : '',
    cell.isDim() ? ';d' : '',
    cell.isItalic() ? ';i' : '',
    cell.isUnderline() ? ';u' : '',
    cell.isStrikethrough() ? ';x' : '',
    cell.isInverse() ? ';v' : '',
    cell.isInvisible() ? ';h' : '',
  ].join('');
}

function colour(isPalette: boolean, isRgb: boolean, value: number, numbered: string, mixed: string): string {
  if (isPalette) return `;${numbered}${value}`;
  return isRgb ? `;${mixed}${value.toString(16).padStart(6, '0')}` : '';
}
