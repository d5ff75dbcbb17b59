import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { errorCode } from '@parley/protocol';
const NAME = /^(.+)\.(\d+)\.[0-9a-f]{8}\.new$/;

/** What nobody has written to for so long is nobody's, even where its maker's number is now another process's. */
const ABANDONED_MS = 3_600_000;

/** Paths that this process has written to; looking through a large folder at every write would cost more than the write. */
const known = new Set<string>();
const MOST_KNOWN = 1_000;

/** A name beside a path for what is not whole yet; what killed processes left under such names goes at our first write there. */
export function temporaryBeside(path: string): string {
  if (!known.has(path)) {
    removeAbandoned(dirname(path), basename(path));
    if (known.size >= MOST_KNOWN) known.clear();
    known.add(path);
  }
  return `${path}.${process.pid}.${randomBytes(4).toString('hex')}.new`;
}

/** Removes from a folder what killed processes left half-written, of one name or of all. */
export function removeAbandoned(folder: string, of?: string): void {
  for (const name of readdirSync(folder)) {
    const [, whole, pid] = NAME.exec(name) ?? [];
    if (whole === undefined || (of !== undefined && whole !== of)) continue;
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || (isRunning(Number(pid)) && Date.now() - stat.mtimeMs < ABANDONED_MS)) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user is one all the same.
    return errorCode(error) === 'EPERM';
  }
}
