import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { ParleyError, errorCode } from '@parley/protocol';
import lockfile from 'proper-lockfile';

import type { Held } from './flock.ts';

/** As Claude Code has it: a lock whose holder has not touched it for this long belongs to nobody. */
const STALE_MS = 10_000;

/** The library makes folders as the umask says; ours are for their owner only. */
const privately = { ...fs, mkdirSync: (path: string) => fs.mkdirSync(path, { mode: 0o700 }) };

/**
 * Takes the directory `<path>.lock` that Claude Code locks a file with.
 * A caller that acts and releases without waiting in between holds it well under a millisecond, which matters:
 * Claude Code drops what it wanted to write when it finds the lock held for two thirds of a second.
 */
export async function takeDirectoryLock(path: string, waitMs: number): Promise<Held> {
  for (const end = performance.now() + waitMs; ; await sleep(5 + Math.random() * 20)) {
    try {
      // What happens to the lock later is seen by looking at the file itself before it is replaced.
      const options = { realpath: false, stale: STALE_MS, fs: privately, onCompromised: () => {} };
      const release = lockfile.lockSync(path, options);
      return { release: () => letGo(release) };
    } catch (error) {
      if (errorCode(error) !== 'ELOCKED') throw error;
      if (performance.now() > end)
        throw new ParleyError('UNAVAILABLE', `${path}.lock is held by another program; try again`, { path });
    }
  }
}

function letGo(release: () => void): void {
  try {
    release();
  } catch {
    // Somebody took it for stale and away.
  }
}
