import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What a process with another clock is given: its waiting stays that of this machine. */
export const CLOCK_ENV = { FAKETIME_DONT_FAKE_MONOTONIC: '1', TZ: 'UTC' };

const SHARED = '/dev/shm';
const LEFT_BEHIND = /^(?:sem\.)?faketime_(?:sem|shm)_(\d+)$/;

/** The words before a command that give it another clock, such as `+3h`. */
export function atClock(faketime: string, time: string): string[] {
  // One that was killed leaves its marks under its process id, and another that gets the same id would trip over them.
  for (const name of readdirSync(SHARED)) {
    const pid = LEFT_BEHIND.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(SHARED, name), { force: true });
  }
  return [faketime, '-f', time];
}
