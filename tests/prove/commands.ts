import { spawnSync } from 'node:child_process';

import type { Figure } from './results.ts';

/** A command of its own that proves something, beside the tests. */
export interface ProvingCommand {
  title: string;
  bound: string;
  minutes: number;
  run(root: string): { held: boolean; figures: Figure[] };
}

/** Runs a script of package.json; its progress is shown, its answer is read. */
function script(root: string, name: string, ...args: string[]): { status: number | null; stdout: string } {
  return spawnSync('npm', ['run', '--silent', name, '--', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 2],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
}

/** What runs after the tests: the simulated world, the mutants and the benches, each with its promise. */
export const COMMANDS: Record<string, ProvingCommand> = {
  simulate: {
    title: '1,000 histories of 24 simulated hours',
    bound: 'no promise broken',
    minutes: 150,
    run(root) {
      const { status, stdout } = script(root, 'simulate', '--seeds', '1000', '--hours', '24', '--json');
      return {
        held: status === 0,
        figures: [{ what: 'told', figure: stdout.trim().split('\n').at(-1) ?? '' }],
      };
    },
  },
  bench: {
    title: 'every bench, each figure beside its reference',
    bound: 'the promised ratios',
    minutes: 60,
    run(root) {
      const { status, stdout } = script(root, 'bench', '--check', '--json');
      const { promises } = JSON.parse(stdout === '' ? '{"promises":[]}' : stdout) as { promises: Promised[] };
      const figures = promises.map(({ what, figure, promised, held }) => ({
        what,
        figure: `${figure} (${promised}${held ? '' : ', missed'})`,
      }));
      return { held: status === 0, figures };
    },
  },
};

interface Promised {
  what: string;
  figure: string;
  promised: string;
  held: boolean;
}
