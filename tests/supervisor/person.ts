import { setTimeout as sleep } from 'node:timers/promises';

import { openPty, type PtyExit, type Screen } from '@parley/runtimes';
import { openScreen } from '@parley/runtimes/screen';
import { onTestFinished } from 'vitest';

import { bareEnvironment, PARLEY } from '../cli/parley.ts';

/** A person at a terminal: types, and reads the screen. */
export interface Person {
  pid: number;
  type(keys: string): void;
  paste(text: string): void;
  resize(cols: number, rows: number): void;
  /** The rows of the screen, without empty ones at the end. */
  screen(): Promise<string[]>;
  modes(): Screen['modes'];
  /** Every byte that came, one character each. */
  raw(): string;
  /** Waits until the screen shows this. */
  sees(what: string | RegExp, timeoutMs?: number): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  exited: Promise<PtyExit>;
}

export interface PersonOptions {
  env?: Record<string, string>;
  cwd?: string;
  cols?: number;
  rows?: number;
}

/** Sits a person down before a program, until the test ends. */
export async function sitDown(
  [file = '', ...args]: string[],
  { env = {}, cwd = process.cwd(), cols = 100, rows = 30 }: PersonOptions = {},
): Promise<Person> {
  let raw = '';
  const screen = openScreen({ cols, rows, answers: true, reply: (text) => pty.write(text) });
  const pty = await openPty({
    file,
    args,
    env: bareEnvironment({ TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env }),
    cwd,
    cols,
    rows,
    onOutput(bytes) {
      raw += bytes.toString('latin1');
      screen.write(bytes);
    },
  });
  const person: Person = {
    pid: pty.pid,
    type: (keys) => pty.write(keys),
    paste: (text) => pty.write(`\u001b[200~${text}\u001b[201~`),
    resize(columns, lines) {
      screen.resize(columns, lines);
      pty.resize(columns, lines);
    },
    async screen() {
      await screen.settled();
      return screen.view().lines.join('\n').trimEnd().split('\n');
    },
    modes: () => screen.modes,
    raw: () => raw,
    async sees(what, timeoutMs = 40_000) {
      const end = performance.now() + timeoutMs;
      for (;;) {
        const text = (await person.screen()).join('\n');
        if (typeof what === 'string' ? text.includes(what) : what.test(text)) return;
        if (performance.now() > end) throw new Error(`not seen: ${String(what)}\n${text}`);
        await sleep(30);
      }
    },
    signal: (signal) => process.kill(pty.pid, signal),
    exited: pty.exited,
  };
  onTestFinished(async () => {
    try {
      person.signal('SIGKILL');
    } catch {
      // It is gone, and its end is on its way.
    }
    await person.exited;
  });
  return person;
}

/** The words that start a program under the supervisor. */
export function supervised(program: string[], options: string[] = []): string[] {
  return [process.execPath, PARLEY, 'run', ...options, '--', ...program];
}
