import { resolve } from 'node:path';

import type { Command } from 'commander';

import type { ImportReport } from '../../record/import-record.ts';
import { print, tell } from '../output.ts';
import { createSteps } from '../progress.ts';
import { settingsOf } from '../settings.ts';

/** `parley import`: an export becomes a record again, in an empty folder or database. */
export function addImportCommand(program: Command): void {
  program
    .command('import <file>')
    .description('restore an export into an empty folder or database, every chain verified')
    .addHelpText(
      'after',
      `
The place is that of --data, or of --store; no hub may run on it. Ids, positions and hashes stay as they are.
What an export leaves out does not come back: secrets, devices, channels, the keys that sign tokens, bytes of artifacts.
Run it again after a crash or an error: it goes on where it was.

Examples:
  parley import record.ndjson --data ~/parley-again
  parley import record.ndjson --store postgres://parley@db/parley`,
    )
    .action(async (file: string, _options: unknown, command: Command) => {
      const { config, json } = settingsOf(command);
      const { importRecord } = await import('../../record/import-record.ts');
      const progress = createSteps({
        log: 'restored',
        rest: 'restored beside the log',
        check: 'checked',
        source: 'compared',
      });
      const place = { store: config.store, data: resolve(config.data) };
      const report = await importRecord(file, place, progress.reached);
      progress.end();
      print({ json }, report, () => [linesOf(report)]);
      if (!json) for (const line of notes(report)) tell(line);
    });
}

function linesOf({ to, counts }: ImportReport): string {
  return `${to}: ${counts.entries} entries in ${counts.threads} threads, ${counts.cursors} cursors, ${counts.records} records; every chain holds`;
}

function notes({ counts, left }: ImportReport): string[] {
  const kinds = Object.entries(left).map(([kind, count]) => `${count} ${kind}${count === 1 ? '' : 's'}`);
  return [
    ...(kinds.length === 0
      ? []
      : [`Left behind, since an export has not got their secrets: ${kinds.join(', ')}.`]),
    ...(counts.artifacts === 0
      ? []
      : [
          `The bytes of ${counts.artifacts} artifacts are not in an export: copy them from the old data folder.`,
        ]),
    'Tokens that were issued before are not good here: issue new ones.',
  ];
}
