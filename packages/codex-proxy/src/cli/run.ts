import { CommanderError } from 'commander';

import { EXIT, fail, guardOutput, print } from './output.ts';
import { createProgram } from './program.ts';

/** Runs one command line to its exit code. */
export async function run(argv: string[]): Promise<void> {
  guardOutput();
  const json = argv.includes('--json');
  try {
    await createProgram().parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) fail(error, json);
    if (error.exitCode === 0) process.exit(EXIT.ok);
    const message = error.message.replace(/^error: /, '');
    if (json) print(true, { error: { code: 'VALIDATION_ERROR', message } }, () => []);
    process.exit(EXIT.usage);
  }
}
