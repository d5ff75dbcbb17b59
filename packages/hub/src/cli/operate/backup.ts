import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { syncFolderSync, temporaryBeside, writeNewSync } from '@parley/files';
import { hideSecrets, ParleyError } from '@parley/protocol';
import {
  backupRecord,
  checkRecord,
  DATABASE_FILE,
  artifactRecords,
  openFolderTarget,
} from '@parley/store-sqlite';
import type { Command } from 'commander';

import { copyBlobs } from '../../artifacts/check-blobs.ts';
import { URL_KEY_FILE } from '../../artifacts/url-keys.ts';
import { KEY_FILE } from '../../auth/key-file.ts';
import type { Config } from '../../config/schema.ts';
import { withStateFiles } from '../../state-files/with-state-files.ts';
import { copyRecord } from '../../record/copy-record.ts';
import { recordPlace } from '../../record/record-place.ts';
import { print } from '../output.ts';
import { settingsOf } from '../settings.ts';

/** `parley backup`: a data folder of its own, checked and durable, from which a hub can be started. */
export function addBackupCommand(program: Command): void {
  program
    .command('backup <folder>')
    .description('copy the record, the artifacts and the keys into a new folder; works while the hub writes')
    .addHelpText(
      'after',
      '\nExample:\n  parley backup ~/parley-backup && parley serve --data ~/parley-backup',
    )
    .action(async (target: string, _options: unknown, command: Command) => {
      const { config, json } = settingsOf(command);
      const folder = resolve(target);
      const { counts } = await backUp(config, folder);
      print({ json }, { folder, counts }, () => [
        `${folder}: ${counts.threads} threads, ${counts.messages} messages, ${counts.artifacts} artifacts, checked`,
        'It holds the signing keys: keep it as private as the data folder.',
      ]);
    });
}

/** Builds the copy beside its place and renames it there: the backup is whole or not there. */
async function backUp(config: Config, target: string) {
  const { data, store, artifacts } = config;
  if (store === '' && !existsSync(join(data, DATABASE_FILE)))
    throw new ParleyError('NOT_FOUND', `there is no record in ${data}`);
  if (existsSync(target)) throw new ParleyError('CONFLICT', `${target} is there already`);
  const parent = dirname(target);
  if (!existsSync(parent)) throw new ParleyError('NOT_FOUND', `${parent} is not there`);
  const temporary = temporaryBeside(target);
  process.umask(0o077);
  mkdirSync(temporary, { mode: 0o700 });
  try {
    const record = store === '' ? backupRecord(data, temporary) : await fromDatabase(config, temporary);
    await withStateFiles(config, (stateFiles) => {
      for (const name of [KEY_FILE, URL_KEY_FILE] as const) {
        const { text } = stateFiles.look(name);
        if (text !== undefined) writeNewSync(join(temporary, name), text);
      }
    });
    const [wrong] = artifacts.bucket === '' ? copyBlobs(data, temporary, artifactRecords(temporary)) : [];
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

/** A record of one moment of the database, in a folder from which a hub can be started. */
async function fromDatabase(config: Config, folder: string): Promise<string> {
  const source = await (await recordPlace(config)).source();
  const target = openFolderTarget(folder);
  try {
    await copyRecord(source, target, hideSecrets(config.store), () => {});
    await target.done();
    return join(folder, DATABASE_FILE);
  } finally {
    await target.close();
    await source.close();
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
