import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { hideSecrets, ParleyError } from '@parley/protocol';
import { whichProgram } from '@parley/runtimes';

const run = promisify(execFile);
const PATIENCE_MS = 60_000;
const MOST_LINES = 12;
/** What Rust and Node print of their own insides. */
const TRACE = /^(?:Stack backtrace:| {4}at )[^]*/m;

/** Lets a client do something by its own command line, word by word; what it refuses is thrown in its own words. */
export async function runClient(bin: string, args: readonly string[]): Promise<string> {
  const file = whichProgram(bin, process.env['PATH'] ?? '', process.cwd());
  if (file === undefined) throw new ParleyError('NOT_FOUND', `there is no program ${bin}`);
  try {
    const { stdout } = await run(file, [...args], { timeout: PATIENCE_MS });
    return stdout;
  } catch (error) {
    const {
      stderr = '',
      stdout = '',
      message,
      // What `execFile` throws.
    } = error as { stderr?: string; stdout?: string; message: string };
    // Some tell their errors on the one side, some on the other; what is wrong stands first, before any trace.
    const [said = message] = [stderr, stdout]
      .map((text) => hideSecrets(text.replace(TRACE, '')).trim())
      .filter((text) => text !== '');
    throw new ParleyError('CONFLICT', `${bin} refused: ${said.split('\n').slice(0, MOST_LINES).join('\n')}`);
  }
}
