import { fail, handleBrokenPipe } from './cli/output.ts';
import { createProgram } from './cli/program.ts';

handleBrokenPipe();

const program = createProgram();
try {
  await program.parseAsync();
} catch (error) {
  fail(error, process.argv.includes('--json'));
}
