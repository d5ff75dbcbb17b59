import { readSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

import { errorText, entriesOf } from '@parley/protocol';
import type { spawn as Spawn } from '@lydell/node-pty';

import { RuntimeError } from '../runtime-error.ts';
import { createPtyInput } from './pty-input.ts';

export interface PtyOptions {
  /** An executable file, found already. */
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  cols: number;
  rows: number;
  /** Hears every byte the program writes. */
  onOutput: (bytes: Buffer) => void;
  /** Hears that the program has read on, after a `write` that was too much. */
  onDrain?: () => void;
}

/** How the program ended. */
export interface PtyExit {
  code: number;
  signal: NodeJS.Signals | null;
}

/** A program at a terminal of its own. */
export interface Pty {
  readonly pid: number;
  /** Settles after the last byte of output. */
  readonly exited: Promise<PtyExit>;
  readonly ended: boolean;
  /** The name of the program that has the terminal just now: a shell hands it on. */
  foreground(): string;
  /** False when the program does not read: what it has not taken waits, and is dropped when it ends. */
  write(data: string | Buffer): boolean;
  /** The program has not read a lot of what was written. */
  readonly full: boolean;
  resize(cols: number, rows: number): void;
  /** Stops reading, so that the program must wait; nothing is lost. */
  pause(): void;
  resume(): void;
  /** To the program and its process group. */
  signal(signal: NodeJS.Signals): void;
}

/** What the library can do beyond what it declares. */
interface Undeclared {
  readonly fd: number;
  setEncoding(encoding: 'latin1'): void;
  on(event: 'end', listener: () => void): void;
}

const NAMES = entriesOf(constants.signals);
/** While nobody reads, how often to look whether the program is still there. */
const LOOK_MS = 50;
/** A terminal gives less than 4 KiB at a time: when it gives so much, there is more. */
const MUCH = 2_048;
const ROOM = Buffer.allocUnsafe(65_536);

/**
 * Starts a program at a terminal of its own. When this process is gone, however it went, the kernel hangs the terminal up,
 * and the session ends as it does when a window is closed: so nobody else may hold the terminal's master.
 */
export async function openPty(options: PtyOptions): Promise<Pty> {
  const { file, args, env, cwd, cols, rows } = options;
  const { spawn } = await loadLibrary();
  let terminal: ReturnType<typeof Spawn>;
  try {
    // Told that it speaks UTF-8, the terminal erases whole characters; the bytes themselves are passed on unread.
    terminal = spawn(file, [...args], { cwd, env, cols, rows, name: env['TERM'] ?? 'xterm-256color' });
  } catch (error) {
    throw new RuntimeError('SPAWN_FAILED', `${file} could not be started: ${errorText(error)}`);
  }
  // It has this, and its types leave it out.
  const bytes = terminal as unknown as Undeclared;
  bytes.setEncoding('latin1');
  const { pid } = terminal;
  const input = createPtyInput(bytes.fd, () => options.onDrain?.());
  let ended = false;
  let look: NodeJS.Timeout | undefined;

  terminal.onData((text) => {
    const first = Buffer.from(text, 'latin1');
    options.onOutput(first.length < MUCH ? first : Buffer.concat([first, readMore(bytes.fd)]));
  });
  bytes.on('end', () => readRest(bytes.fd, options.onOutput));
  const exited = new Promise<PtyExit>((resolve) => {
    terminal.onExit(({ exitCode, signal = 0 }) => {
      ended = true;
      input.close();
      clearInterval(look);
      const name = NAMES.find(([, number]) => number === signal)?.[0] ?? null;
      resolve({ code: exitCode, signal: name });
    });
  });

  function signalGroup(signal: NodeJS.Signals): void {
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody of the group is left.
    }
  }

  function isThere(): boolean {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  }

  function resume(): void {
    clearInterval(look);
    look = undefined;
    terminal.resume();
  }

  return {
    pid,
    exited,
    get ended() {
      return ended;
    },
    foreground: () => (ended ? '' : path.basename(terminal.process)),
    write: (data) => input.write(typeof data === 'string' ? Buffer.from(data) : data),
    get full() {
      return input.full;
    },
    resize(columns, lines) {
      if (!ended) terminal.resize(Math.max(1, columns), Math.max(1, lines));
    },
    pause() {
      if (ended || look !== undefined) return;
      terminal.pause();
      // The library drops what was not read soon after the end of the program.
      look = setInterval(() => {
        if (!isThere()) resume();
      }, LOOK_MS);
    },
    resume,
    signal(signal) {
      if (!ended) signalGroup(signal);
    },
  };
}

/**
 * Reads what is left in a terminal whose program has ended. A terminal gives a few kilobytes at a time, and a short read
 * beside a hang-up is taken for the end: the last output of a program would be lost.
 */
function readRest(fd: number, onOutput: (bytes: Buffer) => void): void {
  for (let bytes = readMore(fd); bytes.length > 0; bytes = readMore(fd)) onOutput(bytes);
}

/** What a flood has left in the terminal, in one piece: a call for each few kilobytes would cost more than they do. */
function readMore(fd: number): Buffer {
  let size = 0;
  try {
    for (let read = MUCH; read >= MUCH && size < ROOM.length; size += read)
      read = readSync(fd, ROOM, size, ROOM.length - size, null);
  } catch {
    // There is nothing now, or the program has ended.
  }
  return Buffer.from(ROOM.subarray(0, size));
}

async function loadLibrary(): Promise<{ spawn: typeof Spawn }> {
  try {
    return await import('@lydell/node-pty');
  } catch (error) {
    throw new RuntimeError(
      'BACKEND_MISSING',
      `there is no terminal for ${process.platform}-${process.arch}: ${errorText(error).split('\n')[0] ?? ''}`,
    );
  }
}
