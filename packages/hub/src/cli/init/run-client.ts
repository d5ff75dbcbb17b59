import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { hideSecrets, ParleyError } from '@parley/protocol';

import { findProgram } from '../find-program.ts';

const run = promisify(execFile);
const PATIENCE_MS = 60_000;

/** Lets a client do something by its own command line, word by word; what it refuses is thrown in its own words. */
export async function runClient(bin: string, args: readonly string[]): Promise<string> {
  const file = findProgram(bin, process.env['PATH'] ?? '');
  try {
    const { stdout } = await run(file, [...args], { timeout: PATIENCE_MS });
    return stdout;
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string };
    const said = hideSecrets(stderr).trim().split('\n').at(-1) ?? '';
    throw new ParleyError('CONFLICT', `${bin} refused: ${said === '' ? message : said}`);
  }
}
