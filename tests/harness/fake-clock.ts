import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { freshFolder } from './start-hub.ts';

/** A wall clock that can be moved under a running program; the monotonic one stays true, unless it is to move along. */
export function fakeClock(libfaketime: string, options: { monotonic?: 'moves' } = {}) {
  const file = join(dirname(freshFolder()), 'clock');
  let offset = 0;
  const move = (ms: number): void => {
    offset = ms;
    writeFileSync(file, `${ms < 0 ? '-' : '+'}${Math.abs(Math.round(ms / 1_000))}\n`);
  };
  move(0);
  return {
    /** To so far from the true time. */
    move,
    now: () => Date.now() + offset,
    env: {
      LD_PRELOAD: libfaketime,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      ...(options.monotonic === 'moves' ? {} : { FAKETIME_DONT_FAKE_MONOTONIC: '1' }),
    } as Record<string, string>,
  };
}
