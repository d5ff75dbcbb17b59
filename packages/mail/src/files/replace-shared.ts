import { renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import { fieldsOf } from '@parley/protocol';
import { syncFolder, temporaryBeside, writeNew } from '@parley/files';

import { takeDirectoryLock } from '../locks/directory-lock.ts';
import { type Held, takeFlock } from '../locks/flock.ts';
import { failed, readJson } from './read-json.ts';

/** What becomes of a shared file: its new value, or none when it stays as it is. */
export interface Replacement<T> {
  outcome: T;
  value?: unknown;
}

export interface ReplaceOptions {
  /** How long each lock is waited for. */
  waitMs: number;
  /** Looked at in the moment of replacing; it throws when nothing may be written any more. */
  mayWrite: () => void;
  /** Told when ATM's lock cannot be taken on this machine. */
  onNoFlock: () => void;
}

/** After this many lost races the file is prepared with the lock in hand. */
const PATIENCE = 4;

/**
 * Replaces a JSON file that Claude Code and ATM write too, so that no writer's work is lost.
 * The new file is prepared first; then, within one turn: Claude Code's lock, a look whether the file is still
 * the one that was read, the rename. When it is not, all is done again on what is there now.
 */
export async function replaceShared<T>(
  path: string,
  change: (value: unknown) => Replacement<T>,
  options: ReplaceOptions,
): Promise<T> {
  let flock: Held | undefined;
  try {
    flock = await takeFlock(path.replace(/\.json$/, '.lock'), options.waitMs);
    if (flock === undefined) options.onNoFlock();
    for (let lost = 0; ; lost += 1) {
      const early = lost >= PATIENCE ? await takeDirectoryLock(path, options.waitMs) : undefined;
      try {
        const done = await tryOnce(path, change, early, options);
        if (done !== undefined) return done.outcome;
      } finally {
        early?.release();
      }
    }
  } catch (error) {
    throw fieldsOf(error)['syscall'] === undefined ? error : failed(path, error);
  } finally {
    flock?.release();
  }
}

async function tryOnce<T>(
  path: string,
  change: (value: unknown) => Replacement<T>,
  early: Held | undefined,
  { waitMs, mayWrite }: ReplaceOptions,
): Promise<{ outcome: T } | undefined> {
  const before = await readJson(path);
  let temporary: string | undefined;
  try {
    const { outcome, value } = change(before.value);
    if (value === undefined) return { outcome };
    temporary = temporaryBeside(path);
    await writeNew(temporary, `${JSON.stringify(value, null, 2)}\n`);
    const lock = early ?? (await takeDirectoryLock(path, waitMs));
    try {
      // Nothing may be awaited from here to the rename.
      mayWrite();
      if (!before.isCurrent()) return undefined;
      renameSync(temporary, path);
    } finally {
      if (early === undefined) lock.release();
    }
    await syncFolder(dirname(path));
    return { outcome };
  } finally {
    if (temporary !== undefined) await rm(temporary, { force: true });
    await before.close();
  }
}
