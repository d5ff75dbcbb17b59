import { statSync } from 'node:fs';
import { join } from 'node:path';

import type { StateFile, StateFiles, StateFileName } from '@parley/core';
import { lockFile } from '@parley/store-sqlite';

import { readPrivateFile, writePrivateFile } from '../data-folder.ts';

/** How long a look at a file holds: shorter than a command line takes to end. */
const LOOK_AGAIN_MS = 2;
const LOCK_MS = 5_000;

interface Seen extends StateFile {
  at: number;
}

/** The state files of a hub that is alone: in its data folder, written by commands too, and seen at once. */
export function folderFiles(folder: string): StateFiles {
  const seen = new Map<StateFileName, Seen>();
  /** Of this process one change at a time: the lock is waited for without a turn of the loop, which its holder needs. */
  let last: Promise<unknown> = Promise.resolve();

  async function changeAlone(name: StateFileName, next: Parameters<StateFiles['change']>[1]): Promise<void> {
    const lock = lockFile(join(folder, 'auth.lock'), LOCK_MS);
    try {
      const text = readPrivateFile(join(folder, name));
      const other = await next(text);
      if (other !== undefined && other !== text) writePrivateFile(join(folder, name), other);
      seen.delete(name);
    } finally {
      lock.release();
    }
  }

  return {
    shared: false,
    look(name) {
      const at = performance.now();
      const known = seen.get(name);
      if (known !== undefined && at - known.at < LOOK_AGAIN_MS) return known;
      const stat = statSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
      const revision = stat === undefined ? 'none' : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
      if (known?.revision === revision) {
        known.at = at;
        return known;
      }
      const found = { at, revision, text: readPrivateFile(join(folder, name)) };
      seen.set(name, found);
      return found;
    },
    fresh: () => undefined,
    /** Under a lock that the kernel releases. */
    change(name, next) {
      const changed = last.then(() => changeAlone(name, next));
      last = changed.catch(() => {});
      return changed;
    },
    close: async () => {},
  };
}
