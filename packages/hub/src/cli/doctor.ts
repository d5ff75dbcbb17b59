import type { Command } from 'commander';

import { EXIT, print, tell } from './output.ts';
import { settingsOf } from './settings.ts';
import { painter } from './style.ts';
import { table } from './table.ts';

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
      const report = await examine(config, repaired === undefined ? [] : [repaired.check]);
      const data = repaired === undefined ? report : { ...report, rebuilt: repaired.rebuilt };
      print({ json }, data, () => [
        ...table(
          report.checks.map(({ name, ok, detail }) => [
            ok ? 'ok' : 'BAD',
            name,
            ok ? detail : paint('red', detail),
          ]),
        ),
        report.ok ? 'All is well.' : paint('red', 'Something is wrong: see the lines marked BAD.'),
      ]);
      if (!report.ok) process.exitCode = EXIT.failure;
    });
}
