import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, readSync } from 'node:fs';

import { writeNewSync } from '@parley/files';
import { ParleyError, errorCode } from '@parley/protocol';

/** Other programs write their process id into a lock file: alone on the first line, or as `pid` of a JSON object. */
const PID = /^\s*(\d{1,10})[ \t]*(?:[\r\n]|$)|\bpid["']?\s*[:=]\s*(\d{1,10})\b/i;
const MOST_READ = 4_096;
const MOST_KEPT = 1_048_576;
/** Clocks of files and of processes are not told to the same fraction of a second. */
const SLACK_MS = 2_000;
/** The kernel counts so many of these in a second, on every kind of machine. */
const TICK_MS = 10;

/**
 * Empties a lock file that another program wrote; throws CONFLICT while the process that it names lives.
 * It is emptied in place: whoever else tries at the same time meets at the same file, and one gets the lock.
 */
export function clearForeignLock(path: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const { pid, isAlive } = readHolder(file);
    if (isAlive)
      throw new ParleyError('CONFLICT', `${path} is held by process ${pid}, which is another program's`);
    if (pid === undefined) keepBeside(path, file);
    ftruncateSync(file);
  } finally {
    closeSync(file);
  }
}

/** Nobody knows what this was. */
function keepBeside(path: string, file: number): void {
  if (fstatSync(file).size > MOST_KEPT)
    throw new ParleyError('FORBIDDEN', `${path} is too large for a lock; move it away`);
  const bytes = readFileSync(file);
  const aside = `${path}.${Date.now()}-${process.pid}.aside`;
  if (bytes.length > 0) writeNewSync(aside, [bytes]);
}

/** The living process that another program's lock file names. */
export function holderOf(path: string): number | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { pid, isAlive } = readHolder(file);
    return isAlive ? pid : undefined;
  } finally {
    closeSync(file);
  }
}

function readHolder(file: number): { pid: number | undefined; isAlive: boolean } {
  const head = Buffer.alloc(MOST_READ);
  const text = head.toString('utf8', 0, readSync(file, head, 0, MOST_READ, 0));
  const found = PID.exec(text);
  if (found === null) return { pid: undefined, isAlive: false };
  const pid = Number(found[1] ?? found[2]);
  return { pid, isAlive: livesSince(pid, fstatSync(file).mtimeMs) };
}

/** A process that began after the file was written has got the number of one that is gone; this one writes no numbers. */
function livesSince(pid: number, writtenMs: number): boolean {
  if (pid === 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  const begun = beginningOf(pid);
  return begun === undefined || (begun !== 'over' && begun <= writtenMs + SLACK_MS);
}

/** When a process began; undefined where the system does not tell. */
function beginningOf(pid: number): number | 'over' | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return 'over';
    const boot = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1];
    return Number(boot) * 1_000 + Number(fields[19]) * TICK_MS;
  } catch {
    return undefined;
  }
}
