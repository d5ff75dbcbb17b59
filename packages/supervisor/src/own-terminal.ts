import type { ReadStream, WriteStream } from 'node:tty';

import type { Screen } from '@parley/runtimes';

import { holdLineSettings } from './line-settings.ts';

/** The person's side: their keyboard and their screen. */
export interface OwnTerminal {
  size(): { cols: number; rows: number };
  /** Begins to hear; keys come as they are pressed. */
  start(): void;
  /** False when the screen has had enough for now; `onDrain` tells when it has room again. */
  write(bytes: Buffer): boolean;
  /** Stops hearing for a while; the terminal keeps what is typed. */
  pause(): void;
  resume(): void;
  /** Gives the terminal back as it was; modes that a program left on are switched off. */
  restore(left?: Screen['modes']): void;
  /** Takes the terminal again after `restore`, with the modes the program had on. */
  retake(modes: Screen['modes']): void;
}

export interface OwnTerminalOptions {
  stdin: ReadStream;
  stdout: WriteStream;
  onInput: (bytes: string) => void;
  onResize: () => void;
  onDrain: () => void;
}

/** What a terminal has that does not know its own size. */
const USUAL = { cols: 80, rows: 24 };

/** Takes hold of the person's terminal. */
export function openOwnTerminal(options: OwnTerminalOptions): OwnTerminal {
  const { stdin, stdout } = options;
  const line = holdLineSettings(stdin);
  let started = false;

  return {
    size: () => (stdout.columns > 0 ? { cols: stdout.columns, rows: stdout.rows } : USUAL),
    start() {
      started = true;
      line.raw();
      stdin.setEncoding('latin1');
      stdin.on('data', (text: string) => options.onInput(text));
      // A terminal that is gone is told by SIGHUP.
      stdin.on('error', () => {});
      stdout.on('resize', () => options.onResize());
      stdout.on('drain', () => options.onDrain());
    },
    write: (bytes) => stdout.write(bytes),
    pause: () => stdin.pause(),
    resume: () => stdin.resume(),
    restore(left) {
      if (!started) return;
      if (left !== undefined) stdout.write(left.off());
      line.restore();
    },
    retake(modes) {
      line.raw();
      stdout.write(modes.on());
    },
  };
}
