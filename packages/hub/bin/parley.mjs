#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

// A report of a crash would hold the environment, and with it secrets.
process.report.reportOnFatalError = false;
process.report.reportOnUncaughtException = false;
process.report.reportOnSignal = false;

// The heap is small: sweeping the young part of it with helper threads costs more than it saves.
setFlagsFromString('--no-parallel-scavenge');

// Beside a program at a terminal we should be small: what is made at the start and dropped makes no room for itself.
const isRun = process.argv.includes('run');
if (isRun) setFlagsFromString('--semi-space-growth-factor=1');

const bundle = new URL(isRun ? '../dist/parley-run.js' : '../dist/parley.js', import.meta.url);
if (!existsSync(bundle)) {
  process.stderr.write('parley: the bundle is missing; run `npm run build` first\n');
  process.exit(1);
}
await import(bundle.href);
