import type { Command } from 'commander';

import { EXIT, print } from './output.ts';
import { settingsOf } from './settings.ts';
import { painter } from './style.ts';
import { table } from './table.ts';

/** `parley doctor`: reads everything there is and says what is wrong; it changes nothing. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the machine, the data folder, the keys and the whole record')
    .addHelpText(
      'after',
      '\nWorks with the hub running or not. Ends with 1 when something is wrong.\n\nExample:\n  parley doctor --json',
    )
    .action(async (_options: unknown, command: Command) => {
      const { config, json } = settingsOf(command);
      const paint = painter(command);
      const { examine } = await import('./examine.ts');
      const report = await examine(config);
      print({ json }, report, () => [
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
