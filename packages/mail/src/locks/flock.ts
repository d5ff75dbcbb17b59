import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, lstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { ParleyError } from '@parley/protocol';

/** A lock that is held until it is let go. */
export interface Held {
  release(): void;
}

/** BSD's way to take flock(2) while opening, which Node passes on as it is. */
const O_EXLOCK = 0x20;

const AGAIN_MS = 10;

/**
 * Takes flock(2) on a lock file, as the original ATM does; undefined where this machine offers no way to it.
 * Node has no flock: BSDs take it in open(2), elsewhere a child of flock(1) holds it and ends with us.
 */
export async function takeFlock(path: string, waitMs: number): Promise<Held | undefined> {
  await createPlain(path);
  const isBsd = process.platform === 'darwin' || process.platform === 'freebsd';
  return isBsd ? await takeByOpen(path, waitMs) : await takeByChild(path, waitMs);
}

async function createPlain(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (lstatSync(path).isFile()) return;
    throw new ParleyError('FORBIDDEN', `${path} is no plain file; it cannot be a lock`, { path });
  }
}

async function takeByOpen(path: string, waitMs: number): Promise<Held> {
  const { O_RDWR, O_NONBLOCK, O_NOFOLLOW } = constants;
  for (const end = performance.now() + waitMs; ; await sleep(AGAIN_MS)) {
    try {
      const file = await open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_EXLOCK);
      return { release: () => void file.close() };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      if (performance.now() > end) throw busy(path);
    }
  }
}

async function takeByChild(path: string, waitMs: number): Promise<Held | undefined> {
  // `cat` speaks once the lock is there, and ends when our end of its pipe is gone, however we end.
  const child = spawn('flock', ['-x', path, 'cat'], { stdio: ['pipe', 'pipe', 'ignore'], cwd: '/' });
  child.stdin.on('error', () => {});
  child.stdin.write('.');
  const started = once(child.stdout, 'data').then(
    () => 'held' as const,
    () => 'gone' as const,
  );
  const ended = new Promise<'missing' | 'gone'>((resolve) => {
    child.once('error', () => resolve('missing'));
    child.once('exit', () => resolve('gone'));
  });
  const wait = new AbortController();
  const tooLong = sleep(waitMs, 'late' as const, { signal: wait.signal }).catch(() => 'late' as const);
  const outcome = await Promise.race([started, ended, tooLong]);
  wait.abort();
  if (outcome === 'held') return { release: () => void child.stdin.end() };
  child.kill('SIGKILL');
  if (outcome === 'missing') return undefined;
  throw busy(path);
}

function busy(path: string): ParleyError {
  return new ParleyError('UNAVAILABLE', `${path} is held by another program; try again`, { path });
}
