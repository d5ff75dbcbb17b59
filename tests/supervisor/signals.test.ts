import { randomUUID } from 'node:crypto';

import { expect, onTestFinished, test, vi } from 'vitest';

import { sitDown } from './person.ts';
import { MARK, running } from './session-processes.ts';
import { type Way, WAYS, wordsOf } from './three-ways.ts';

vi.setConfig({ testTimeout: 120_000 });
const PATIENCE = { timeout: 40_000, interval: 100 };
const MODES = String.raw`\033[?1049h\033[?2004h\033[?1004h\033[?25l\033[>1u\033[>4;2m\033=`;
/** What a terminal with nothing switched on is told: plain letters, plain colours. */
const PLAIN = '\u001b(B\u000f\u001b[0m';

const PROGRAMS: Record<string, { program: string[]; keys?: string }> = {
  'one with every mode on': {
    program: ['/bin/bash', '-c', `printf '${MODES}'; echo ready; exec sleep 1021`],
  },
  'one that tidies up first': {
    program: ['/bin/bash', '-c', "trap 'exit 7' TERM HUP; echo ready; while :; do sleep 0.1; done"],
  },
  'one with a child in the background': {
    program: ['/bin/bash', '-c', 'sleep 1022 & echo ready; wait'],
  },
};

interface Ending {
  exit: unknown;
  modes: string;
  left: string[];
}

/** Sends the signal to whoever was started, and tells what became of it. */
async function end(way: Way, program: string[], signal: NodeJS.Signals): Promise<Ending> {
  const mark = randomUUID();
  const person = await sitDown(wordsOf(way, program), { env: { [MARK]: mark } });
  onTestFinished(() => running(mark).forEach(({ pid }) => process.kill(pid, 'SIGKILL')));
  await person.sees('ready');
  person.signal(signal);
  const exit = await person.exited;
  // The terminal is hung up by now, and the kernel tells those who are left.
  const left = (): string[] => running(mark).map(({ line }) => line);
  await expect.poll(left, { ...PATIENCE, message: way }).toEqual([]);
  // Its last bytes stand on the screen a moment after its end.
  await person.screen();
  return { exit, modes: person.modes().off(), left: left() };
}

for (const [what, { program }] of Object.entries(PROGRAMS))
  for (const signal of ['SIGTERM', 'SIGHUP'] as const)
    test(`${signal}: ${what} ends as it does plainly, leaves nobody, and the terminal is as it was`, async () => {
      const found: Partial<Record<Way, Ending>> = {};
      // script(1) stays when it is sent a hang-up, and ends with its own code on SIGTERM: there it sets no measure.
      for (const way of WAYS)
        if (way !== 'script' || signal === 'SIGTERM') found[way] = await end(way, program, signal);
      expect(found.parley?.exit).toEqual(found.plain?.exit);
      expect(found.parley?.left).toEqual(found.plain?.left);
      expect(found.parley?.modes).toBe(PLAIN);
      if (what === 'one with every mode on') expect(found.plain?.modes).not.toBe(PLAIN);
    });
