import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const RESERVE_FILE = 'reserve';
/** What a start takes: the memory that SQLite's connections share, `hub.json`, a few keys. */
const BYTES = 256 * 1024;
const PIECE = 4_096;

/** Gives the room back that was kept for this moment: on a full disk a hub could not even start. */
export function spendReserve(folder: string): void {
  rmSync(join(folder, RESERVE_FILE), { force: true });
}

/** Keeps room for the next start, as much as there is; where there is none, the hub goes on without it. */
export function keepReserve(folder: string): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  let file: number | undefined;
  try {
    file = openSync(join(folder, RESERVE_FILE), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    // By chance, so that no disk can make it smaller.
    for (let bytes = 0; bytes < BYTES; bytes += PIECE) writeSync(file, randomBytes(PIECE));
  } catch {
    // It is there already, or the disk is full: whoever writes will hear of that.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
