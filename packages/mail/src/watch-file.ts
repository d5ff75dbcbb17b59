import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

import { look, sameFile } from './files/read-json.ts';

/** Something that goes on until it is closed. */
export interface Watch {
  close(): void;
}

/**
 * Calls when a file has changed, appeared or gone: at once where the system tells of changes, else at the next poll.
 * The folder is watched, as writers put a new file in place of the old one.
 */
export function watchFile(path: string, pollMs: number, onChange: () => void): Watch {
  let seen = look(path);
  let watcher: FSWatcher | undefined;

  const check = (): void => {
    const current = look(path);
    if (sameFile(current, seen)) return;
    seen = current;
    onChange();
  };
  const listen = (): void => {
    if (watcher !== undefined) return;
    try {
      const fresh = watch(dirname(path), { persistent: false }, (_event, name) => {
        if (name === null || name === basename(path)) check();
        // A folder that was removed, and perhaps made anew, tells nothing more.
        if (look(dirname(path)) === undefined) deaf(fresh);
      });
      fresh.on('error', () => deaf(fresh));
      watcher = fresh;
    } catch {
      // There is no folder yet, or no more watches to be had: the poll goes on.
    }
  };
  const deaf = (which: FSWatcher): void => {
    which.close();
    if (watcher === which) watcher = undefined;
  };
  listen();
  const timer = setInterval(() => {
    listen();
    check();
  }, pollMs);
  timer.unref();
  return {
    close() {
      clearInterval(timer);
      watcher?.close();
    },
  };
}
