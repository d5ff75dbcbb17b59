import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { temporaryFolder } from './crash-hub.ts';

/** A wall clock that can be moved under a running hub; the monotonic one stays true. */
export function fakeClock(libfaketime: string) {
  const file = join(temporaryFolder(), 'clock');
  let offset = 0;
  const move = (ms: number): void => {
    offset = ms;
    writeFileSync(file, `${ms < 0 ? '-' : '+'}${Math.abs(Math.round(ms / 1_000))}\n`);
  };
  move(0);
  return {
    move,
    now: () => Date.now() + offset,
    env: {
      LD_PRELOAD: libfaketime,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  };
}
