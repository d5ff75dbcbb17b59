import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { hideSecrets, ParleyError } from '@parley/protocol';

import { findProgram } from '../find-program.ts';

const run = promisify(execFile);
const PATIENCE_MS = 60_000;
const MOST_LINES = 12;

/** Lets a client do something by its own command line, word by word; what it refuses is thrown in its own words. */
export async function runClient(bin: string, args: readonly string[]): Promise<string> {
  const file = findProgram(bin, process.env['PATH'] ?? '');
  try {
    const { stdout } = await run(file, [...args], { timeout: PATIENCE_MS });
    return stdout;
  } catch (error) {
    const {
      stderr = '',
      stdout = '',
      message,
    } = error as { stderr?: string; stdout?: string; message: string };
    // Some tell their errors on the one side, some on the other.
    const said =
      [stderr, stdout].map((text) => hideSecrets(text).trim()).find((text) => text !== '') ?? message;
    throw new ParleyError('CONFLICT', `${bin} refused: ${said.split('\n').slice(-MOST_LINES).join('\n')}`);
  }
}
