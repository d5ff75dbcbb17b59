#!/usr/bin/env node
import { existsSync } from 'node:fs';

const bundle = new URL('../dist/parley.js', import.meta.url);
if (!existsSync(bundle)) {
  process.stderr.write('parley: the bundle is missing; run `npm run build` first\n');
  process.exit(1);
}
await import(bundle.href);
