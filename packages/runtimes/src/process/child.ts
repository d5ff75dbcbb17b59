import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { errorText } from '@parley/protocol';
import { RuntimeError } from '../runtime-error.ts';
import type { ChildExit } from './child-exit.ts';
import { guardGroup } from './guard-group.ts';
import { createLineReader } from './line-reader.ts';
import { createRedactor } from './redact.ts';

export interface ChildOptions {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  maxLineBytes: number;
  maxBacklogBytes: number;
  onLine: (line: string) => void;
  onOversized: (head: string) => void;
  /** Called once, after the last line. */
  onExit: (exit: ChildExit) => void;
}

/** How long a closing child may take at each step. */
interface CloseGrace {
  eofMs: number;
  termMs: number;
  /** Aborted when there is no more time for any of them. */
  hurry?: AbortSignal;
}

/** A process that talks in lines, in a group of its own. */
export interface Child {
  readonly pid: number;
  write(line: string): void;
  /** Throws OVERLOADED when the child has long stopped reading. */
  checkRoom(): void;
  stderr(): string;
  /** Nothing more will be written; the child may go on. */
  endInput(): void;
  /** End of input, then SIGTERM, then SIGKILL, to the whole group; the same promise every time. */
  close(grace: CloseGrace): Promise<ChildExit>;
}

const STDERR_CHARS = 16_384;
/** No secret is longer. */
const SECRET_CHARS = 4_096;
/** How long output may still come after the child has ended: a grandchild can hold the pipe open. */
const DRAIN_MS = 300;

/** Starts a process that talks in lines; nothing of its group outlives it, this process or `close`. */
export async function openChild(options: ChildOptions): Promise<Child> {
  const { command, args, env, cwd } = options;
  const child = spawn(command, args, { env, cwd, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const { stdin, stdout, stderr } = child;
  const redact = createRedactor(env);
  let tail = '';
  stderr.setEncoding('utf8').on('data', (text: string) => (tail = lastOf(tail + text, 2 * STDERR_CHARS)));
  // A child that is gone is told by its exit, not by a broken pipe.
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});
  const reader = createLineReader({
    maxBytes: options.maxLineBytes,
    onLine: options.onLine,
    onOversized: options.onOversized,
  });
  stdout.on('data', (chunk: Buffer) => reader.take(chunk));

  const said = (): string => redact(tail).slice(-STDERR_CHARS);
  const drained = new Promise<void>((resolve) => stdout.once('close', () => resolve()));
  let callOff = (): void => {};
  const ended = new Promise<ChildExit>((resolve) => {
    child.once('exit', (code, signal) => {
      void Promise.race([drained, sleep(DRAIN_MS)]).then(() => {
        signalGroup('SIGKILL');
        callOff();
        stdout.destroy();
        stderr.destroy();
        stdin.destroy();
        reader.end();
        const exit = { code, signal, stderr: said() };
        options.onExit(exit);
        resolve(exit);
      });
    });
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw new RuntimeError('SPAWN_FAILED', `${command} could not be started: ${errorText(error)}`);
  }
  // What could not be started was thrown above.
  const pid = child.pid as number;
  callOff = guardGroup(pid);

  function signalGroup(signal: NodeJS.Signals): void {
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody of the group is left.
    }
  }

  async function shutDown({ eofMs, termMs, hurry }: CloseGrace): Promise<ChildExit> {
    const isOver = new AbortController();
    const signal = AbortSignal.any([isOver.signal, ...(hurry === undefined ? [] : [hurry])]);
    const endsWithin = async (ms: number): Promise<boolean> =>
      (await Promise.race([ended, sleep(ms, undefined, { signal }).catch(() => {})])) !== undefined;
    stdin.end();
    if (!(await endsWithin(eofMs))) signalGroup('SIGTERM');
    if (!(await endsWithin(termMs))) signalGroup('SIGKILL');
    const exit = await ended;
    isOver.abort();
    return exit;
  }

  let closing: Promise<ChildExit> | undefined;
  return {
    pid,
    stderr: said,
    write(line) {
      if (!stdin.writable) return;
      stdin.write(`${line}\n`);
    },
    endInput: () => void stdin.end(),
    checkRoom() {
      if (stdin.writableLength > options.maxBacklogBytes)
        throw new RuntimeError('OVERLOADED', 'the child has stopped reading');
    },
    close: (grace) => (closing ??= shutDown(grace)),
  };
}

/** The end of a text from the beginning of a line, or of a word: what is left of one that was cut may be half a secret. */
function lastOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(-most);
  const line = end.indexOf('\n');
  if (line >= 0) return end.slice(line + 1);
  const word = end.search(/\s/);
  return end.slice(word >= 0 ? word + 1 : SECRET_CHARS);
}
