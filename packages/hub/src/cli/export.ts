import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { writeWholeSync } from '@parley/files';
import { ParleyError } from '@parley/protocol';
import { DATABASE_FILE, exportRecord } from '@parley/store-sqlite';
import type { Command } from 'commander';

import { EXIT, print, tell } from './output.ts';
import { settingsOf } from './settings.ts';

/** How much is gathered before it is written. */
const PIECE = 65_536;

/** `parley export`: the whole record as NDJSON, of one moment, whether the hub runs or not. */
export function addExportCommand(program: Command): void {
  program
    .command('export')
    .description('the whole record as NDJSON, of one moment; works while the hub writes')
    .option('--out <file>', 'write to this new file (mode 0600) instead of standard output')
    .addHelpText(
      'after',
      '\nSecrets stay behind: what signs webhooks, where channels lead, what devices are known by. A backup has them.\n\nExample:\n  parley export --out record.ndjson',
    )
    .action(async (options: { out?: string }, command: Command) => {
      const { config, json } = settingsOf(command);
      if (!existsSync(join(config.data, DATABASE_FILE)))
        throw new ParleyError('NOT_FOUND', `there is no record in ${config.data}`);
      const lines = withProgress(exportRecord(config.data));
      if (options.out === undefined) {
        await writeToOutput(lines);
        return;
      }
      const count = writeToFile(options.out, lines);
      print({ json }, { file: options.out, lines: count }, () => [`${options.out}: ${count} lines`]);
    });
}

async function writeToOutput(lines: Iterable<string>): Promise<void> {
  for (const piece of inPieces(lines)) {
    if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}

/** The number of lines in the new file, which is whole or not there. */
function writeToFile(path: string, lines: Iterable<string>): number {
  if (existsSync(path)) throw new ParleyError('CONFLICT', `${path} is there already`);
  let count = 0;
  writeWholeSync(path, inPieces(counted(lines, () => count++)));
  return count;
}

function* counted(lines: Iterable<string>, count: () => void): Generator<string> {
  for (const line of lines) {
    count();
    yield line;
  }
}

function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = '';
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Tells a person at the terminal once a second how far a long export has come, and at its end what is damaged. */
function* withProgress(lines: Iterable<string>): Generator<string> {
  let count = 0;
  let total = 0;
  let damaged = 0;
  let toldAt = Date.now();
  for (const line of lines) {
    if (line.startsWith('{"type":"damaged"')) damaged++;
    if (count === 0) total = (JSON.parse(line) as { entries: number }).entries;
    count++;
    if (Date.now() - toldAt > 1_000) {
      toldAt = Date.now();
      process.stderr.write(`exported ${count} of about ${total}\n`);
    }
    yield line;
  }
  if (damaged === 0) return;
  tell(
    `${damaged === 1 ? '1 entry is' : `${damaged} entries are`} damaged and marked so; run \`parley doctor\``,
  );
  process.exitCode = EXIT.failure;
}
