import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { syncFolderSync, temporaryBeside, writeNewSync } from '@parley/files';
import { ParleyError } from '@parley/protocol';
import { backupRecord, checkRecord, DATABASE_FILE } from '@parley/store-sqlite';
import type { Command } from 'commander';

import { copyBlobs } from '../artifacts/check-blobs.ts';
import { URL_KEY_FILE } from '../artifacts/url-keys.ts';
import { keyFilePath } from '../auth/key-file.ts';
import { print } from './output.ts';
import { settingsOf } from './settings.ts';

/** `parley backup`: a data folder of its own, checked and durable, from which a hub can be started. */
export function addBackupCommand(program: Command): void {
  program
    .command('backup <folder>')
    .description('copy the record, the artifacts and the keys into a new folder; works while the hub writes')
    .addHelpText(
      'after',
      '\nExample:\n  parley backup ~/parley-backup && parley serve --data ~/parley-backup',
    )
    .action((target: string, _options: unknown, command: Command) => {
      const { config, json } = settingsOf(command);
      const folder = resolve(target);
      const { counts } = backUp(config.data, folder, config.artifacts.bucket !== '');
      print({ json }, { folder, counts }, () => [
        `${folder}: ${counts.threads} threads, ${counts.messages} messages, ${counts.artifacts} artifacts, checked`,
        'It holds the signing keys: keep it as private as the data folder.',
      ]);
    });
}

/** Builds the copy beside its place and renames it there: the backup is whole or not there. */
function backUp(source: string, target: string, isInBucket: boolean) {
  if (!existsSync(join(source, DATABASE_FILE)))
    throw new ParleyError('NOT_FOUND', `there is no record in ${source}`);
  if (existsSync(target)) throw new ParleyError('CONFLICT', `${target} is there already`);
  const parent = dirname(target);
  if (!existsSync(parent)) throw new ParleyError('NOT_FOUND', `${parent} is not there`);
  const temporary = temporaryBeside(target);
  process.umask(0o077);
  mkdirSync(temporary, { mode: 0o700 });
  try {
    const record = backupRecord(source, temporary);
    for (const path of [keyFilePath(source), join(source, URL_KEY_FILE)])
      if (existsSync(path)) writeNewSync(join(temporary, basename(path)), [readFileSync(path)]);
    const [wrong] = isInBucket ? [] : copyBlobs(source, temporary);
    if (wrong !== undefined)
      throw new ParleyError('INTERNAL', `an artifact cannot be copied: ${wrong}; run \`parley doctor\``);
    const report = checkRecord(temporary);
    if (!report.ok)
      throw new ParleyError(
        'INTERNAL',
        `the copy is not sound: ${report.problems[0] ?? 'see parley doctor'}`,
      );
    makeDurable(record);
    syncFolderSync(temporary);
    renameSync(temporary, target);
    syncFolderSync(parent);
    return report;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function makeDurable(path: string): void {
  chmodSync(path, 0o600);
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
