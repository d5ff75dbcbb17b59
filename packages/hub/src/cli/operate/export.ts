import { existsSync } from 'node:fs';

import { writeWhole } from '@parley/files';
import { fieldsOf, ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { recordPlace } from '../../record/record-place.ts';
import { EXIT, pour, print, tell } from '../output.ts';
import { createCounter } from '../progress.ts';
import { settingsOf } from '../settings.ts';

/** How much is gathered before it is written. */
const PIECE = 65_536;

/** `parley export`: the whole record as NDJSON, of one moment, whether the hub runs or not. */
export function addExportCommand(program: Command): void {
  program
    .command('export')
    .description('the whole record as NDJSON, of one moment; works while the hub writes')
    .option('-o, --out <file>', 'write to this new file (mode 0600) instead of standard output')
    .addHelpText(
      'after',
      '\nSecrets stay behind: what signs webhooks, where channels lead, what devices are known by. A backup has them.\n\nExample:\n  parley export --out record.ndjson',
    )
    .action(async (options: { out?: string }, command: Command) => {
      const { config, json } = settingsOf(command);
      const place = await recordPlace(config);
      const lines = withProgress(place.lines());
      if (options.out === undefined) {
        await pour(inPieces(lines));
        return;
      }
      const count = await writeToFile(options.out, lines);
      print({ json }, { file: options.out, lines: count }, () => [`${options.out}: ${count} lines`]);
    });
}

/** The number of lines in the new file, which is whole or not there. */
async function writeToFile(path: string, lines: AsyncIterable<string>): Promise<number> {
  if (existsSync(path)) throw new ParleyError('CONFLICT', `${path} is there already`);
  let count = 0;
  await writeWhole(path, inPieces(counted(lines, () => count++)));
  return count;
}

async function* counted(lines: AsyncIterable<string>, count: () => void): AsyncGenerator<string> {
  for await (const line of lines) {
    count();
    yield line;
  }
}

async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Tells how far a long export has come, and at its end what is damaged. */
async function* withProgress(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  const progress = createCounter('exported', 0);
  let count = 0;
  let total = 0;
  let damaged = 0;
  for await (const line of lines) {
    if (line.startsWith('{"type":"damaged"')) damaged++;
    if (count === 0) total = linesTold(line);
    progress.reached(++count, total);
    yield line;
  }
  progress.end();
  if (damaged === 0) return;
  tell(
    `${damaged === 1 ? '1 entry is' : `${damaged} entries are`} damaged and marked so; run \`parley doctor\``,
  );
  process.exitCode = EXIT.failure;
}

/** How many lines there will be, by the first one. */
function linesTold(first: string): number {
  const { entries, cursors, records } = fieldsOf(JSON.parse(first));
  return 1 + Number(entries) + Number(cursors) + Number(records);
}
