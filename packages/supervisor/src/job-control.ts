import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { InputPiece } from '@parley/runtimes';

const run = promisify(execFile);

/** Ctrl-Z, plain or as terminals report it that report every key. */
const SUSPEND_KEY = /\u001a|^\u001b\[122;5(?::1)?u$/; // eslint-disable-line no-control-regex
/** What a program writes that gives the terminal back, and what the terminal itself echoes for a simple one. */
const GIVES_BACK = /\u001b\[\?(?:1049|2004)l|\^Z/; // eslint-disable-line no-control-regex
const PATIENCE_MS = 3_000;
const LOOK_MS = 50;

/** Notices that the program wants to be suspended. */
export interface SuspendWatch {
  notePiece(piece: InputPiece): void;
  noteOutput(bytes: Buffer): void;
}

/**
 * Watches for Ctrl-Z and what the program makes of it. Nobody above the program in its own session could continue it, so
 * the kernel does not let it stop itself by the usual signal: it only gives the terminal back, and takes it again.
 */
export function createSuspendWatch(deps: {
  pid: number;
  /** A shell stops its own jobs; the shell itself goes on. */
  isShell: boolean;
  onSuspend: () => void;
}): SuspendWatch {
  let watching = false;
  let said = '';

  async function watch(): Promise<void> {
    watching = true;
    said = '';
    const end = performance.now() + PATIENCE_MS;
    while (performance.now() < end) {
      await sleep(LOOK_MS);
      if ((!deps.isShell && GIVES_BACK.test(said)) || (await isStopped(deps.pid))) {
        deps.onSuspend();
        break;
      }
    }
    watching = false;
  }

  return {
    notePiece({ kind, text }) {
      if (kind === 'key' && SUSPEND_KEY.test(text) && !watching) void watch();
    },
    noteOutput(bytes) {
      if (watching) said = (said + bytes.toString('latin1')).slice(-65_536);
    },
  };
}

/** True for a process that was stopped by a signal. */
async function isStopped(pid: number): Promise<boolean> {
  try {
    const stat =
      process.platform === 'linux'
        ? (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '')
        : (await run('ps', ['-o', 'stat=', '-p', String(pid)])).stdout.trim();
    return stat.startsWith('T');
  } catch {
    return false;
  }
}
