#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A report of a crash would hold the environment, and with it secrets.
process.report.reportOnFatalError = false;
process.report.reportOnUncaughtException = false;
process.report.reportOnSignal = false;

const bundle = new URL('../dist/atm-agent-mcp.js', import.meta.url);
if (!existsSync(bundle)) {
  process.stderr.write('atm-agent-mcp: the bundle is missing; run `npm run build` first\n');
  process.exit(1);
}
await import(bundle.href);
