import type { ProgramKind } from '@parley/protocol';

import type { Cell, Screen } from './open-screen.ts';

/** What stands in a program's input line. */
export interface Composer {
  /** The words in it; empty when there is only a grey hint. */
  text: string;
}

/**
 * Finds the input line of a program that is known on the screen, and what stands in it. Undefined when it is not there: a
 * dialog is open, where Enter would be an answer, or the program is starting.
 */
export function readComposer(kind: ProgramKind, screen: Screen): Composer | undefined {
  if (kind === 'codex') return readCodex(screen);
  if (kind === 'claude') return readClaude(screen);
  return undefined;
}

/** Codex: `›` in full colour at the left of the line that has the cursor; old prompts have a dim one, menus hide the cursor. */
function readCodex(screen: Screen): Composer | undefined {
  const { cursor } = screen.view();
  if (!cursor.visible) return undefined;
  for (let y = cursor.y; y >= 0; y--) {
    const cells = screen.cells(y);
    const [mark, gap] = cells;
    if (mark?.text === '›' && !mark.dim && !mark.inverse && isBlank(gap))
      return { text: textBelow(screen, y) };
    if (!isBlank(mark) || !isBlank(gap)) return undefined;
  }
  return undefined;
}

/** Claude Code: `❯` at the left, first line of a block between two rules, in which the cursor stands. */
function readClaude(screen: Screen): Composer | undefined {
  const { cursor, rows } = screen.view();
  let top = cursor.y;
  while (top >= 0 && !isRule(screen.cells(top))) top--;
  let bottom = cursor.y;
  while (bottom < rows && !isRule(screen.cells(bottom))) bottom++;
  if (top < 0 || bottom >= rows || top === cursor.y) return undefined;
  const [mark, gap] = screen.cells(top + 1);
  if (mark?.text !== '❯' || !isBlank(gap)) return undefined;
  return { text: textBelow(screen, top + 1, bottom) };
}

/** The words of the lines from `from` on, without the margin and without what is dim, down to `to` or an empty line. */
function textBelow(screen: Screen, from: number, to = screen.view().rows): string {
  const lines: string[] = [];
  for (let y = from; y < to; y++) {
    const cells = screen.cells(y);
    if (y > from && to === screen.view().rows && cells.every(isBlank)) break;
    lines.push(
      cells
        .slice(2)
        .map((cell) => (cell.dim || cell.text === '' ? ' ' : cell.text))
        .join('')
        .trimEnd(),
    );
  }
  return lines.join('\n').trim();
}

const isBlank = (cell: Cell | undefined): boolean => cell === undefined || cell.text.trim() === '';
const isRule = (cells: Cell[]): boolean => cells.slice(0, 10).every(({ text }) => text === '─');
