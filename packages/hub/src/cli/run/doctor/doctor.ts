import { table } from '@parley/protocol';
import type { Command } from 'commander';

import type { DoctorReport } from './examine.ts';
import { NOT_RUNNING } from './examine-hub.ts';
import { EXIT, print, tell } from '../../output.ts';
import { createCounter } from '../../progress.ts';
import { settingsOf } from '../../settings.ts';
import { painter } from '../../style.ts';

/** All is well only where whoever is known could be called now. */
function wellOr({ reach, checks }: DoctorReport): string {
  const away = reach.filter(({ reachable }) => reachable === 'no').map(({ agent_id }) => agent_id);
  if (away.length > 0) return `No fault; a call would wait for ${away.join(', ')}: see the lines above.`;
  const isRunning = checks.some(({ name, detail }) => name === 'hub' && detail !== NOT_RUNNING);
  return isRunning ? 'All is well.' : 'No fault; no hub runs, so nobody can be reached now.';
}

/** `parley doctor`: reads everything there is and says what is wrong; it changes nothing unless it is to repair. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the machine, the data folder, the keys and the whole record')
    .option('--repair', 'first make anew from the log all that follows from it; the hub must be stopped')
    .addHelpText(
      'after',
      '\nWorks with the hub running or not, --repair only without. Ends with 1 when something is wrong.\n\nExamples:\n  parley doctor --json\n  parley doctor --repair',
    )
    .action(async (options: { repair?: true }, command: Command) => {
      const { config, json } = settingsOf(command);
      const paint = painter(command);
      const { examine } = await import('./examine.ts');
      const { repair } = await import('./repair.ts');
      const repaired = options.repair === undefined ? undefined : repair(config, tell);
      // Its report is read by programs too: only a person at a terminal is told how far it is.
      const progress = createCounter('checked', 0, { quiet: true });
      const before = repaired === undefined ? [] : [repaired.check];
      const report = await examine(config, before, (done, all) => progress.reached(done, all));
      progress.end();
      const data = repaired === undefined ? report : { ...report, rebuilt: repaired.rebuilt };
      print({ json }, data, () => [
        ...table(
          report.checks.map(({ name, ok, detail }) => [
            ok ? 'ok' : 'BAD',
            name,
            ok ? detail : paint('red', detail),
          ]),
        ),
        report.ok ? wellOr(report) : paint('red', 'Something is wrong: see the lines marked BAD.'),
      ]);
      if (!report.ok) process.exitCode = EXIT.failure;
    });
}
