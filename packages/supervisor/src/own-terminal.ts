import type { ReadStream, WriteStream } from 'node:tty';

import type { ScreenModes } from '@parley/runtimes';

/** The person's side: their keyboard and their screen, or pipes in place of either. */
export interface OwnTerminal {
  /** A real terminal on both sides: it answers the program's questions itself. */
  readonly isWhole: boolean;
  size(): { cols: number; rows: number };
  /** Begins to hear; keys come as they are pressed. */
  start(): void;
  /** False when the screen has had enough for now; `onDrain` tells when it has room again. */
  write(bytes: Buffer): boolean;
  /** Gives the terminal back as it was; modes that a killed program left on are switched off. */
  restore(left?: ScreenModes): void;
  /** Takes the terminal again after `restore`, with the modes the program had on. */
  retake(modes: ScreenModes): void;
}

export interface OwnTerminalOptions {
  stdin: ReadStream;
  stdout: WriteStream;
  /** Where no terminal tells one. */
  usualSize: { cols: number; rows: number };
  onInput: (bytes: string) => void;
  onEnd: () => void;
  onResize: () => void;
  onDrain: () => void;
}

/** Takes hold of the person's terminal. */
export function openOwnTerminal(options: OwnTerminalOptions): OwnTerminal {
  const { stdin, stdout, usualSize } = options;
  // What pipes have in place of a terminal lacks these.
  const isTerminal = (stream: { isTTY?: boolean }): boolean => stream.isTTY === true;
  let started = false;

  function raw(on: boolean): void {
    if (isTerminal(stdin) && !stdin.destroyed) stdin.setRawMode(on);
  }

  return {
    isWhole: isTerminal(stdin) && isTerminal(stdout),
    size() {
      if (!isTerminal(stdout) || stdout.columns === 0) return usualSize;
      return { cols: stdout.columns, rows: stdout.rows };
    },
    start() {
      started = true;
      raw(true);
      stdin.setEncoding('latin1');
      stdin.on('data', (text: string) => options.onInput(text));
      stdin.on('end', () => options.onEnd());
      // A terminal that is gone is told by SIGHUP.
      stdin.on('error', () => {});
      stdout.on('resize', () => options.onResize());
      stdout.on('drain', () => options.onDrain());
    },
    write: (bytes) => stdout.write(bytes),
    restore(left) {
      if (!started) return;
      if (left !== undefined && isTerminal(stdout)) stdout.write(switches(left, false));
      raw(false);
    },
    retake(modes) {
      raw(true);
      if (isTerminal(stdout)) stdout.write(switches(modes, true));
    },
  };
}

/** The sequences that switch a program's modes off, or on again. */
function switches(modes: ScreenModes, on: boolean): string {
  const end = on ? 'h' : 'l';
  const parts = [
    modes.mouse && !on ? '\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l' : '',
    modes.bracketedPaste ? `\u001b[?2004${end}` : '',
    modes.alternate ? `\u001b[?1049${end}` : '',
    modes.cursorHidden ? `\u001b[?25${on ? 'l' : 'h'}` : '',
    on ? '' : '\u001b[0m',
  ];
  return parts.join('');
}
