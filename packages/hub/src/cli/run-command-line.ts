import { ParleyError } from '@parley/protocol';
import { CommanderError } from 'commander';

import { createBareProgram } from './bare-program.ts';
import { EXIT, fail, printLines } from './output.ts';
import { guardOutput } from './standard-output.ts';
import { createProgram } from './program.ts';
import { explainRefusal } from './speaker.ts';
import { inTypedNames } from './typed-names.ts';

/** Runs one command line to its exit code; without a command it shows what there is and what runs. */
export async function runCommandLine(argv: string[]): Promise<void> {
  guardOutput();
  try {
    const bare = createBareProgram();
    const { operands, unknown } = bare.parseOptions(argv);
    if (operands.length === 0 && unknown.length === 0) {
      const { showWhatRuns } = await import('./what-runs.ts');
      return await showWhatRuns(bare);
    }
    await (await createProgram(operands[0])).parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) endUsage(error, argv.includes('--json'));
    const json = argv.includes('--json');
    if (!json && error instanceof ParleyError) error.message = inTypedNames(error.message, argv);
    fail(explainRefusal(error, argv, process.env), json);
  }
}

/** Commander has told the person already; a script gets the same as data. */
function endUsage(error: CommanderError, json: boolean): never {
  if (error.exitCode === 0) process.exit(EXIT.ok);
  const message = error.message.replace(/^error: /, '');
  if (json) printLines([JSON.stringify({ error: { code: 'VALIDATION_ERROR', message } })]);
  process.exit(EXIT.usage);
}
