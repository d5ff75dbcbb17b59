import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { SCAN_BYTES } from '../packages/search/src/scan-bytes.ts';
import { buildScan } from '../scripts/build-scan.mjs';

test('the module that compares vectors is what its text says', async () => {
  expect(SCAN_BYTES).toBe(await buildScan());
});

test('another text makes another module, and one that is no program makes none', async () => {
  const text = readFileSync(new URL('../packages/search/src/scan.wat', import.meta.url), 'utf8');
  expect(await buildScan(text.replace('(i32.const 16)', '(i32.const 32)'))).not.toBe(SCAN_BYTES);
  await expect(buildScan(text.replace('local.get $at', 'local.get $nowhere'))).rejects.toThrow(/nowhere/);
});
