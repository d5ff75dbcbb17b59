import { randomUUID } from 'node:crypto';
import type { ReadStream, WriteStream } from 'node:tty';

import type { InputOf, ProgramKind } from '@parley/protocol';
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

import { createCommands, type RunningTerminal, LOOKS } from './commands.ts';
import { type HubLinkOptions, openHubLink } from './hub-link.ts';
import { createSuspendWatch } from './job-control.ts';
import { createKeyboard } from './keyboard.ts';
import { openOwnTerminal } from './own-terminal.ts';
import { followState } from './follow-state.ts';
import { createScreenWatch, type ScreenWatch } from './screen-watch.ts';
import { createTakeOver } from './take-over.ts';
import { tellTakenOver } from './tell-taken-over.ts';

/** A program that runs, and how the hub is told what it uses. */
interface RunningProgram {
  pid: number;
  tell: (usage: InputOf<'report_usage'>) => Promise<unknown>;
}

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
  hub: Omit<HubLinkOptions, 'commands' | 'repeatable' | 'metadata' | 'start'>;
  /** Follows what its turns use, and tells it, until it is closed; left out where nobody wants that or can. */
  usage?: (program: RunningProgram) => { close(): Promise<void> };
  /** Says something to the person, before the program's screen or after it. */
  notice: (text: string) => void;
}

/** How long the program may take to end after it was asked to. */
const GRACE_MS = 10_000;
/** So long the hub and the hidden screen wait for the first word of a program, and so much of it waits for them. */
const FIRST_WORD_MS = 300;
const EARLY = 1_048_576;

/** Runs a program at a terminal of its own, behind the person's, and registered at the hub. */
export async function supervise(options: SuperviseOptions): Promise<PtyExit> {
  const { file, args, env, cwd, program, patience } = options;
  const kind = options.kind ?? kindOf(program);
  const now = (): number => performance.now();
  const wallClock = (): number => Date.now();
  let giveTerminal: (terminal: RunningTerminal) => void = () => {};
  let noteFirstWord: () => void = () => {};
  const firstWord = new Promise<void>((resolve) => (noteFirstWord = resolve));
  const link = openHubLink({
    ...options.hub,
    metadata: { program, kind, supervisor: process.pid },
    commands: createCommands(new Promise((resolve) => (giveTerminal = resolve))),
    repeatable: LOOKS,
    start: firstWord,
  });
  const absent = await link.first;
  if (absent !== undefined)
    options.notice(`${absent}: nobody can reach ${program} through a hub until it does`);

  const typing = createTyping(now);
  let watch: ScreenWatch | undefined;
  const takeOver = createTakeOver({
    now,
    wallClock,
    newId: randomUUID,
    onChange: () => watch?.note(),
    onEnd: (ended) => link.report(tellTakenOver(ended)),
  });
  let screen: Screen | undefined;
  let pty: Pty | undefined;
  const terminal = openOwnTerminal({
    stdin: options.stdin,
    stdout: options.stdout,
    onInput: (bytes) => keyboard.take(bytes),
    onResize() {
      const { cols, rows } = terminal.size();
      screen?.resize(cols, rows);
      pty?.resize(cols, rows);
      watch?.note();
    },
    onDrain: () => pty?.resume(),
  });
  const { cols, rows } = terminal.size();
  const keyboard = createKeyboard({
    write(bytes) {
      if (pty?.write(bytes) === false) terminal.pause();
    },
    onPiece(piece) {
      typing.note(piece);
      suspendWatch.notePiece(piece);
      if (piece.kind === 'key' || piece.kind === 'paste') takeOver.end('person');
    },
  });
  // What the person sees does not wait for what the hub needs of it.
  const early: Buffer[] = [];
  let heard = 0;
  let read = (bytes: Buffer): boolean => {
    early.push(bytes);
    return (heard += bytes.length) < EARLY;
  };
  try {
    pty = await openPty({
      file,
      args,
      env,
      cwd,
      cols,
      rows,
      onOutput(bytes) {
        const isShown = terminal.write(bytes);
        if (!read(bytes) || !isShown) pty?.pause();
        noteFirstWord();
      },
      onDrain: () => terminal.resume(),
    });
  } catch (error) {
    await link.close();
    throw error;
  }
  const running = pty;
  let suspending = false;
  const suspendWatch = createSuspendWatch({
    pid: running.pid,
    isShell: kind === 'bash',
    onSuspend: () => void suspend(),
  });

  /** Stops with the program, as the shell above expects of one job; goes on with it. */
  async function suspend(): Promise<void> {
    if (suspending || screen === undefined) return;
    suspending = true;
    const { modes } = screen;
    running.signal('SIGSTOP');
    // What has passed is all drawn before the terminal is given back, and nothing passes meanwhile.
    running.pause();
    await screen.settled();
    terminal.restore(modes);
    process.removeListener('SIGTSTP', onStop);
    // Here this process stands still until it is continued.
    process.kill(0, 'SIGTSTP');
    process.on('SIGTSTP', onStop);
    suspending = false;
    terminal.retake(modes);
    running.resume();
    running.signal('SIGCONT');
    const size = terminal.size();
    // A change of size makes every program draw its screen anew.
    running.resize(size.cols, Math.max(1, size.rows - 1));
    running.resize(size.cols, size.rows);
    screen.resize(size.cols, size.rows);
  }

  const onStop = (): void => void suspend();
  const leave = (): void => terminal.restore(running.ended ? undefined : screen?.modes);
  const passOn = (signal: NodeJS.Signals): void => {
    running.signal(signal);
    if (signal !== 'SIGINT') setTimeout(() => running.signal('SIGKILL'), GRACE_MS).unref();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
  for (const signal of signals) process.on(signal, passOn);
  process.on('SIGTSTP', onStop);
  process.on('exit', leave);
  terminal.start();
  setTimeout(noteFirstWord, FIRST_WORD_MS).unref();

  // Loading takes longer than many a program takes to say its first word.
  await Promise.race([firstWord, running.exited]);
  const usage = options.usage?.({ pid: running.pid, tell: (spent) => link.used(spent) });
  const { openScreen } = await import('@parley/runtimes/screen');
  const drawing = openScreen({
    ...terminal.size(),
    answers: false,
    reply: (text) => running.write(text),
    onDrain: () => running.resume(),
  });
  screen = drawing;
  const door = createDoor({
    pty: running,
    screen: drawing,
    kind,
    program,
    typing,
    patience,
    holdKeys: () => keyboard.hold(),
    hindrance: () => (takeOver.held === null ? undefined : 'taken_over'),
    now,
    wallClock,
  });
  const watching = createScreenWatch({
    screen: drawing,
    beside: () => ({ state: door.state(), lock: takeOver.held }),
    now,
    newId: randomUUID,
  });
  watch = watching;
  read = (bytes) => {
    suspendWatch.noteOutput(bytes);
    door.noteOutput();
    watching.note();
    return drawing.write(bytes);
  };
  for (const bytes of early.splice(0)) read(bytes);
  running.resume();
  const afar = createInputReader();
  giveTerminal({
    door,
    pty: running,
    screen: drawing,
    watch: watching,
    takeOver,
    program,
    kind,
    quietMs: () => typing.quietMs(),
    quietWindowMs: patience.quietMs,
    noteKeys(keys) {
      const bytes = Buffer.from(keys).toString('latin1');
      for (const piece of [...afar.take(bytes), ...afar.flush()]) typing.noteAfar(piece);
    },
  });
  const stopFollowing = followState({ state: () => door.state(), held: () => takeOver.held }, (...status) =>
    link.status(...status),
  );

  const exit = await running.exited;
  await drawing.settled();
  takeOver.end('program_ended');
  watching.end();
  terminal.restore(exit.signal === null ? undefined : drawing.modes);
  stopFollowing();
  options.stdin.pause();
  await usage?.close();
  await link.close();
  if (absent === undefined && link.missed !== undefined)
    options.notice(`${link.missed}: nobody could reach ${program} through the hub`);
  for (const signal of signals) process.removeListener(signal, passOn);
  process.removeListener('SIGTSTP', onStop);
  process.removeListener('exit', leave);
  return exit;
}
