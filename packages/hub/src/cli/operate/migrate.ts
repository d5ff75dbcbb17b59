import { hideSecrets } from '@parley/protocol';
import type { Command } from 'commander';

import type { MoveReport } from '../../record/move-record.ts';
import { print } from '../output.ts';
import { createSteps } from '../progress.ts';
import { settingsOf } from '../settings.ts';

interface MigrateOptions {
  from: string;
  to: string;
}

/** `parley migrate`: moves a whole record from a folder into PostgreSQL, or back. */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description(
      'move a whole record from a folder into PostgreSQL, or back; the hubs on both must be stopped',
    )
    .requiredOption('--from <place>', 'a data folder, or postgres://…')
    .requiredOption('--to <place>', 'an empty one of the other kind, or of the same')
    .addHelpText(
      'after',
      `
Ids, positions and hashes stay as they are, and everything goes along: messages, cursors, documents, keys, artifacts.
The bytes of artifacts are in folders: a database has those of the folder that --data names.
Run it again after a crash or an error: it goes on where it was. The old place is left as it is.

Examples:
  parley migrate --from ~/.local/share/parley --to postgres://parley@db/parley
  parley migrate --from postgres://parley@db/parley --to ~/parley-again`,
    )
    .action(async ({ from, to }: MigrateOptions, command: Command) => {
      const { config, json } = settingsOf(command);
      const progress = createSteps({
        log: 'moved',
        rest: 'moved beside the log',
        check: 'checked',
        source: 'compared',
      });
      const { moveRecord } = await import('../../record/move-record.ts');
      const report = await moveRecord({
        from,
        to,
        config,
        tell: progress.reached,
      });
      progress.end();
      print({ json }, report, () => lines(report));
    });
}

function lines({ from, to, counts }: MoveReport): string[] {
  return [
    `${counts.entries} entries in ${counts.threads} threads, ${counts.cursors} cursors, ${counts.records} records, ${counts.keys} keys, ${counts.artifacts} artifacts`,
    `${hideSecrets(from)} and ${hideSecrets(to)} hold the same, every chain and count compared.`,
  ];
}
