import xterm from '@xterm/headless';

import { parseProgramStatus, type ProgramStatus } from './program-status.ts';
import { readLine, type ScreenLine } from './screen-line.ts';
import { createFloodFilter } from './skip-flood.ts';
import { BRACKETED_PASTE, createTerminalModes, type TerminalModes } from './terminal-modes.ts';

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

/** A terminal without a window: it follows the output and knows what stands on the screen. */
export interface Screen {
  /** False when more has come than is drawn yet: whoever writes should pause until `onDrain`. */
  write(bytes: Buffer): boolean;
  resize(cols: number, rows: number): void;
  /** Settles when everything written so far stands on the screen. */
  settled(): Promise<void>;
  view(): ScreenView;
  /** The cells of one line of the screen. */
  cells(y: number): Cell[];
  /** How every row looks, from the top. */
  looks(): ScreenLine[];
  /** What the program has switched on; it stays when the program is killed. */
  readonly modes: Pick<TerminalModes, 'isOn' | 'otherScreen' | 'off' | 'on'>;
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
  /** Hears that all is drawn, after a `write` that was too much. */
  onDrain?: () => void;
}

/** What comes within this time is drawn at once, unless somebody looks, or it is much; and so much may wait. */
const GATHER_MS = 10;
const MUCH = 262_144;
const PLENTY = 1_048_576;

/** Asks whether the terminal takes status reports; one that does says the same back. */
const STATUS_QUERY = '?';
const CURSOR = 25;

/** Opens a terminal without a window. */
export function openScreen(options: ScreenOptions): Screen {
  const { cols, rows, reply, answers } = options;
  const terminal = new xterm.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true, logLevel: 'off' });
  const modes = createTerminalModes();
  let status: ProgramStatus | undefined;
  let title = '';
  let pasteSwitches = 0;
  const flood = createFloodFilter();
  let waiting: Buffer[] = [];
  let size = 0;
  let drawn = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  if (answers) terminal.onData(reply);
  terminal.onTitleChange((text) => (title = text));
  terminal.parser.registerOscHandler(7501, (text) => {
    if (text === STATUS_QUERY) reply(`\u001b]7501;${STATUS_QUERY}\u001b\\`);
    else status = parseProgramStatus(text);
    return true;
  });
  followModes(terminal, modes, (mode) => {
    if (mode === BRACKETED_PASTE) pasteSwitches++;
  });

  function drawNow(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (size > 0) drawn = drawn.then(draw);
    return drawn;
  }

  async function draw(): Promise<void> {
    if (size === 0) return;
    const bytes = Buffer.concat(waiting);
    const isPlenty = size >= PLENTY;
    waiting = [];
    size = 0;
    const needed = Buffer.concat(flood.parts(bytes, terminal.rows));
    await new Promise<void>((resolve) => terminal.write(needed, resolve));
    if (isPlenty) options.onDrain?.();
  }

  const line = (y: number) => terminal.buffer.active.getLine(terminal.buffer.active.baseY + y);
  return {
    write(bytes) {
      waiting.push(bytes);
      size += bytes.length;
      if (size >= MUCH) void drawNow();
      else timer ??= setTimeout(() => void drawNow(), GATHER_MS);
      return size < PLENTY;
    },
    resize(columns, lines) {
      // What came before is drawn at the size it was written for.
      drawn = drawNow().then(() => terminal.resize(Math.max(2, columns), Math.max(1, lines)));
    },
    settled: drawNow,
    view() {
      const { cursorX, cursorY } = terminal.buffer.active;
      return {
        cols: terminal.cols,
        rows: terminal.rows,
        lines: Array.from({ length: terminal.rows }, (_, y) => line(y)?.translateToString(true) ?? ''),
        cursor: { x: cursorX, y: cursorY, visible: modes.isOn(CURSOR) },
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
    looks() {
      const cell = terminal.buffer.active.getNullCell();
      return Array.from({ length: terminal.rows }, (_, y) => readLine(line(y), terminal.cols, cell));
    },
    modes,
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

/** Keeps the account of modes while the terminal reads the output; it still acts on each sequence itself. */
function followModes(
  terminal: xterm.Terminal,
  modes: TerminalModes,
  onSwitch: (privateMode: number) => void,
): void {
  const { parser } = terminal;
  const first = ([value = 0]: (number | number[])[]): number => (typeof value === 'number' ? value : 0);
  const numbers = (parameters: (number | number[])[]): number[] =>
    parameters.filter((value) => typeof value === 'number');
  const pass =
    (note: (parameters: (number | number[])[]) => void) =>
    (parameters: (number | number[])[]): boolean => {
      note(parameters);
      return false;
    };
  for (const final of ['h', 'l']) {
    const on = final === 'h';
    parser.registerCsiHandler(
      { prefix: '?', final },
      pass((parameters) => {
        for (const mode of numbers(parameters)) {
          modes.setPrivate(mode, on);
          onSwitch(mode);
        }
      }),
    );
    parser.registerCsiHandler(
      { final },
      pass((parameters) => numbers(parameters).forEach((mode) => modes.setAnsi(mode, on))),
    );
  }
  parser.registerCsiHandler(
    { prefix: '>', final: 'u' },
    pass((parameters) => modes.pushKeyboard(first(parameters))),
  );
  parser.registerCsiHandler(
    { prefix: '<', final: 'u' },
    pass((parameters) => modes.popKeyboard(first(parameters) || 1)),
  );
  parser.registerCsiHandler(
    { prefix: '=', final: 'u' },
    pass((parameters) => modes.setKeyboard(first(parameters))),
  );
  parser.registerCsiHandler(
    { prefix: '>', final: 'm' },
    pass((parameters) => {
      if (parameters.length === 0 || first(parameters) === 4) modes.setModifyKeys(first(parameters.slice(1)));
    }),
  );
  parser.registerCsiHandler(
    { intermediates: ' ', final: 'q' },
    pass((parameters) => modes.setCursorStyle(first(parameters))),
  );
  parser.registerCsiHandler(
    { final: 'r' },
    pass(([top, bottom]) => {
      const [from, to] = [Number(top) || 1, Number(bottom) || terminal.rows];
      modes.setScrolling(from === 1 && to >= terminal.rows ? undefined : `${from};${to}`);
    }),
  );
  parser.registerOscHandler(8, (text) => {
    modes.setLink(!text.endsWith(';'));
    return false;
  });
  const escapes: [string, () => void][] = [
    ['=', () => modes.setKeypad(true)],
    ['>', () => modes.setKeypad(false)],
    ['c', () => modes.reset()],
  ];
  for (const [final, note] of escapes) parser.registerEscHandler({ final }, () => (note(), false));
}
