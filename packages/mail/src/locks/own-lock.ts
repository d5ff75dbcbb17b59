import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ParleyError } from '@parley/protocol';
import { lockFile } from '@parley/sqlite';

import type { Held } from './flock.ts';

/** Takes a lock among our own processes, which the kernel gives back when its holder ends. */
export async function takeOwnLock(path: string, waitMs: number): Promise<Held> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  for (const end = performance.now() + waitMs; ; await sleep(2 + Math.random() * 10)) {
    try {
      return lockFile(path, 0);
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'CONFLICT') throw error;
      if (performance.now() > end)
        throw new ParleyError('UNAVAILABLE', `${error.message}; try again`, { path });
    }
  }
}
