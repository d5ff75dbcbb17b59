import { runCommandLine } from './cli/run-command-line.ts';

await runCommandLine(process.argv.slice(2));
