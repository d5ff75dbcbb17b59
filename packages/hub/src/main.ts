import { fail, handleBrokenPipe } from './cli/output.ts';
import { createProgram } from './cli/program.ts';

handleBrokenPipe();
// A crash report would hold the environment, and with it secrets.
process.report.reportOnFatalError = false;

const program = createProgram();
try {
  await program.parseAsync();
} catch (error) {
  fail(error, process.argv.includes('--json'));
}
