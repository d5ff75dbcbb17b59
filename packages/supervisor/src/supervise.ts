import { randomUUID } from 'node:crypto';
import type { ReadStream, WriteStream } from 'node:tty';

import type { ProgramKind } from '@parley/protocol';
import {
  createDoor,
  createInputReader,
  createTyping,
  kindOf,
  type DoorPatience,
  openPty,
  type Pty,
  type PtyExit,
  type Screen,
} from '@parley/runtimes';
import { openScreen } from '@parley/runtimes/screen';

import { createCommands, type Desk } from './commands.ts';
import { type HubLinkOptions, openHubLink } from './hub-link.ts';
import { createSuspendWatch } from './job-control.ts';
import { createKeyboard } from './keyboard.ts';
import { openOwnTerminal } from './own-terminal.ts';
import { followState } from './follow-state.ts';
import { createTakeOver } from './take-over.ts';

export interface SuperviseOptions {
  /** The program's file, found already, and the name people know it by. */
  file: string;
  program: string;
  /** How text reaches it; by its name when left out. */
  kind: ProgramKind | undefined;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  stdin: ReadStream;
  stdout: WriteStream;
  patience: DoorPatience;
  hub: Omit<HubLinkOptions, 'commands' | 'metadata'>;
  /** Says something to the person before the screen starts. */
  notice: (text: string) => void;
}

/** How long the program may take to end after it was asked to. */
const GRACE_MS = 10_000;

/** Runs a program at a terminal of its own, behind the person's, and registered at the hub. */
export async function supervise(options: SuperviseOptions): Promise<PtyExit> {
  const { file, args, env, cwd, program, patience } = options;
  const kind = options.kind ?? kindOf(program);
  const now = (): number => performance.now();
  const wallClock = (): number => Date.now();
  let giveDesk: (desk: Desk) => void = () => {};
  const link = openHubLink({
    ...options.hub,
    metadata: { program, kind, supervisor: process.pid },
    commands: createCommands(new Promise((resolve) => (giveDesk = resolve))),
  });
  const absent = await link.first;
  if (absent !== undefined)
    options.notice(`${absent}: nobody can reach ${program} through a hub until it does`);

  const typing = createTyping(now);
  const takeOver = createTakeOver({ now, wallClock, newId: randomUUID });
  let screen!: Screen;
  let pty: Pty | undefined;
  const terminal = openOwnTerminal({
    stdin: options.stdin,
    stdout: options.stdout,
    onInput: (bytes) => keyboard.take(bytes),
    onResize() {
      const { cols, rows } = terminal.size();
      screen.resize(cols, rows);
      pty?.resize(cols, rows);
    },
    onDrain: () => pty?.resume(),
  });
  const { cols, rows } = terminal.size();
  screen = openScreen({
    cols,
    rows,
    answers: false,
    reply: (text) => pty?.write(text),
    onDrain: () => pty?.resume(),
  });
  const keyboard = createKeyboard({
    write(bytes) {
      if (pty?.write(bytes) === false) terminal.pause();
    },
    onPiece(piece) {
      typing.note(piece);
      suspendWatch.notePiece(piece);
      if (piece.kind === 'key' || piece.kind === 'paste') takeOver.end();
    },
  });
  try {
    pty = await openPty({
      file,
      args,
      env,
      cwd,
      cols,
      rows,
      onOutput(bytes) {
        suspendWatch.noteOutput(bytes);
        const isDrawn = screen.write(bytes);
        if (!terminal.write(bytes) || !isDrawn) pty?.pause();
        door.noteOutput();
      },
      onDrain: () => terminal.resume(),
    });
  } catch (error) {
    await link.close();
    throw error;
  }
  const running = pty;
  const door = createDoor({
    pty: running,
    screen,
    kind,
    program,
    typing,
    patience,
    holdKeys: () => keyboard.hold(),
    hindrance: () => (takeOver.held === null ? undefined : 'taken_over'),
    now,
    wallClock,
  });
  const suspendWatch = createSuspendWatch({ pid: running.pid, isShell: kind === 'bash', onSuspend: suspend });
  const afar = createInputReader();
  giveDesk({
    door,
    pty: running,
    screen,
    takeOver,
    program,
    kind,
    quietMs: () => typing.quietMs(),
    quietWindowMs: patience.quietMs,
    noteKeys(keys) {
      const bytes = Buffer.from(keys).toString('latin1');
      for (const piece of [...afar.take(bytes), ...afar.flush()]) typing.note(piece);
    },
  });
  const stopFollowing = followState(
    () => door.state(),
    (...status) => link.status(...status),
  );

  /** Stops with the program, as the shell above expects of one job; goes on with it. */
  function suspend(): void {
    const { modes } = screen;
    running.signal('SIGSTOP');
    terminal.restore(modes);
    process.removeListener('SIGTSTP', suspend);
    // Here this process stands still until it is continued.
    process.kill(0, 'SIGTSTP');
    process.on('SIGTSTP', suspend);
    terminal.retake(modes);
    running.signal('SIGCONT');
    const size = terminal.size();
    // A change of size makes every program draw its screen anew.
    running.resize(size.cols, Math.max(1, size.rows - 1));
    running.resize(size.cols, size.rows);
    screen.resize(size.cols, size.rows);
  }

  const leave = (): void => terminal.restore(running.ended ? undefined : screen.modes);
  const passOn = (signal: NodeJS.Signals): void => {
    running.signal(signal);
    if (signal !== 'SIGINT') setTimeout(() => running.signal('SIGKILL'), GRACE_MS).unref();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
  for (const signal of signals) process.on(signal, passOn);
  process.on('SIGTSTP', suspend);
  process.on('exit', leave);
  terminal.start();

  const exit = await running.exited;
  await screen.settled();
  terminal.restore(exit.signal === null ? undefined : screen.modes);
  stopFollowing();
  options.stdin.pause();
  await link.close();
  for (const signal of signals) process.removeListener(signal, passOn);
  process.removeListener('SIGTSTP', suspend);
  process.removeListener('exit', leave);
  return exit;
}
