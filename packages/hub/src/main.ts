import { run } from './cli/run.ts';

// A crash report would hold the environment, and with it secrets.
process.report.reportOnFatalError = false;

await run(process.argv.slice(2));
