import xterm from '@xterm/headless';

import { parseProgramStatus, type ProgramStatus } from './program-status.ts';

/** One cell of a line, as far as a prompt is told by it. */
export interface Cell {
  text: string;
  dim: boolean;
  inverse: boolean;
}

/** What a person would see. */
interface ScreenView {
  cols: number;
  rows: number;
  lines: string[];
  cursor: { x: number; y: number; visible: boolean };
  title: string;
}

/** Modes that a program leaves behind in a terminal when it is killed. */
export interface ScreenModes {
  alternate: boolean;
  bracketedPaste: boolean;
  mouse: boolean;
  cursorHidden: boolean;
}

/** A terminal without a window: it follows the output and knows what stands on the screen. */
export interface Screen {
  write(bytes: Buffer): void;
  resize(cols: number, rows: number): void;
  /** Settles when everything written so far stands on the screen. */
  settled(): Promise<void>;
  view(): ScreenView;
  /** The cells of one line of the screen. */
  cells(y: number): Cell[];
  readonly modes: ScreenModes;
  /** How often the program has switched bracketed paste; a shell does so around each command. */
  readonly pasteSwitches: number;
  /** The program's last report of itself (OSC 7501). */
  readonly status: ProgramStatus | undefined;
  readonly title: string;
}

export interface ScreenOptions {
  cols: number;
  rows: number;
  /** Gets what the program must be told in return: the answer to its question for status reports. */
  reply: (text: string) => void;
  /** True where no real terminal answers the program's questions, so that this one must. */
  answers: boolean;
}

/** Asks whether the terminal takes status reports; one that does says the same back. */
const STATUS_QUERY = '?';
const CURSOR = 25;
const PASTE = 2004;

/** Opens a terminal without a window. */
export function openScreen(options: ScreenOptions): Screen {
  const { cols, rows, reply, answers } = options;
  const terminal = new xterm.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true });
  let status: ProgramStatus | undefined;
  let title = '';
  let cursorHidden = false;
  let pasteSwitches = 0;
  let pending = Promise.resolve();

  if (answers) terminal.onData(reply);
  terminal.onTitleChange((text) => (title = text));
  terminal.parser.registerOscHandler(7501, (text) => {
    if (text === STATUS_QUERY) reply(`\u001b]7501;${STATUS_QUERY}\u001b\\`);
    else status = parseProgramStatus(text);
    return true;
  });
  for (const final of ['h', 'l']) {
    terminal.parser.registerCsiHandler({ prefix: '?', final }, (parameters) => {
      if (parameters.includes(CURSOR)) cursorHidden = final === 'l';
      if (parameters.includes(PASTE)) pasteSwitches++;
      return false;
    });
  }

  const line = (y: number) => terminal.buffer.active.getLine(terminal.buffer.active.baseY + y);
  return {
    write(bytes) {
      pending = new Promise((resolve) => terminal.write(bytes, resolve));
    },
    resize: (columns, lines) => terminal.resize(Math.max(2, columns), Math.max(1, lines)),
    settled: () => pending,
    view() {
      const { cursorX, cursorY } = terminal.buffer.active;
      return {
        cols: terminal.cols,
        rows: terminal.rows,
        lines: Array.from({ length: terminal.rows }, (_, y) => line(y)?.translateToString(true) ?? ''),
        cursor: { x: cursorX, y: cursorY, visible: !cursorHidden },
        title,
      };
    },
    cells(y) {
      const row = line(y);
      return Array.from({ length: terminal.cols }, (_, x) => {
        const cell = row?.getCell(x);
        return {
          text: cell?.getChars() ?? '',
          dim: (cell?.isDim() ?? 0) !== 0,
          inverse: (cell?.isInverse() ?? 0) !== 0,
        };
      });
    },
    get modes() {
      const { bracketedPasteMode, mouseTrackingMode } = terminal.modes;
      return {
        alternate: terminal.buffer.active.type === 'alternate',
        bracketedPaste: bracketedPasteMode,
        mouse: mouseTrackingMode !== 'none',
        cursorHidden,
      };
    },
    get pasteSwitches() {
      return pasteSwitches;
    },
    get status() {
      return status;
    },
    get title() {
      return title;
    },
  };
}
