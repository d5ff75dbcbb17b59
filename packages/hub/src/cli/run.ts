import { CommanderError } from 'commander';

import { EXIT, fail, handleBrokenPipe, printLines } from './output.ts';
import { createProgram } from './program.ts';

/** Runs one command line to its exit code; without a command it serves. */
export async function run(argv: string[]): Promise<void> {
  handleBrokenPipe();
  try {
    const { operands, unknown } = createProgram().parseOptions(argv);
    const asksForHelp = unknown.includes('--help') || unknown.includes('-h');
    const line = operands.length === 0 && !asksForHelp ? ['serve', ...argv] : argv;
    await createProgram().parseAsync(line, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) endUsage(error, argv.includes('--json'));
    fail(error, argv.includes('--json'));
  }
}

/** Commander has told the person already; a script gets the same as data. */
function endUsage(error: CommanderError, json: boolean): never {
  if (error.exitCode === 0) process.exit(EXIT.ok);
  const message = error.message.replace(/^error: /, '');
  if (json) printLines([JSON.stringify({ error: { code: 'VALIDATION_ERROR', message } })]);
  process.exit(EXIT.usage);
}
