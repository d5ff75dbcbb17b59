/** Runs before each test file: notes what the file costs, so that it is known where the time of a run goes. */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

import { afterAll, expect } from 'vitest';

const { FILE_COSTS = '' } = process.env;
/** The kernel counts in hundredths of a second. */
const TICKS = 100;

/** CPU seconds of this worker and of whatever it started that has ended. */
function cpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}

if (FILE_COSTS !== '') {
  const began = { cpu: cpuSeconds(), at: Date.now() };
  afterAll(() => {
    const file = relative('', expect.getState().testPath ?? '');
    const cost = { file, cpu: cpuSeconds() - began.cpu, wall: (Date.now() - began.at) / 1_000 };
    appendFileSync(FILE_COSTS, `${JSON.stringify(cost)}\n`);
  });
}
