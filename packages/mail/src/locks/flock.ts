import { spawn } from 'node:child_process';
import { constants, lstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { ParleyError, errorCode } from '@parley/protocol';

/** A lock that is held until it is let go. */
export interface Held {
  release(): void;
}

/** BSD's way to take flock(2) while opening, which Node passes on as it is. */
const O_EXLOCK = 0x20;

const AGAIN_MS = 10;

/**
 * Takes flock(2) on a lock file, as the original ATM does; undefined where this machine offers no way to it.
 * Node has no flock: BSDs take it in open(2), elsewhere flock(1) takes it for the open file that it is handed, and ends.
 */
export async function takeFlock(path: string, waitMs: number): Promise<Held | undefined> {
  await createPlain(path);
  const isBsd = process.platform === 'darwin' || process.platform === 'freebsd';
  return isBsd ? await takeByOpen(path, waitMs) : await takeByProgram(path, waitMs);
}

async function createPlain(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
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
      if (errorCode(error) !== 'EAGAIN') throw error;
      if (performance.now() > end) throw busy(path);
    }
  }
}

/** The lock belongs to the open file, which both processes share: it lasts until ours is closed, however we end. */
async function takeByProgram(path: string, waitMs: number): Promise<Held | undefined> {
  const { O_RDWR, O_NONBLOCK, O_NOFOLLOW } = constants;
  const file = await open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW);
  const child = spawn('flock', ['-x', '3'], { stdio: ['ignore', 'ignore', 'ignore', file.fd], cwd: '/' });
  const late = setTimeout(() => child.kill('SIGKILL'), waitMs);
  const outcome = await new Promise<'held' | 'missing' | 'busy'>((resolve) => {
    child.once('error', () => resolve('missing'));
    child.once('exit', (code) => resolve(code === 0 ? 'held' : 'busy'));
  });
  clearTimeout(late);
  if (outcome === 'held') return { release: () => void file.close() };
  await file.close();
  if (outcome === 'missing') return undefined;
  throw busy(path);
}

function busy(path: string): ParleyError {
  return new ParleyError('UNAVAILABLE', `${path} is held by another program; try again`, { path });
}
