/** Builds the module that compares vectors from its text; as a program it writes the bytes where the search finds them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import openWabt from 'wabt';

const source = new URL('../packages/search/src/scan.wat', import.meta.url);
const target = new URL('../packages/search/src/scan-bytes.ts', import.meta.url);

/** The bytes of the text, in base64. */
export async function buildScan(text = readFileSync(source, 'utf8')) {
  const wabt = await openWabt();
  const module = wabt.parseWat('scan.wat', text, { simd: true });
  try {
    module.validate();
    return Buffer.from(module.toBinary({}).buffer).toString('base64');
  } finally {
    module.destroy();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(
    target,
    `/** The module of scan.wat in base64, written by \`npm run wasm\`. */\nexport const SCAN_BYTES =\n  '${await buildScan()}';\n`,
  );
