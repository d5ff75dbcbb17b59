import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';
import { expect, test } from 'vitest';

test('the client and all it imports can be bundled for a browser', async () => {
  const { errors, outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('index.ts', import.meta.url))],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    logLevel: 'silent',
  });
  expect(errors).toEqual([]);
  expect(outputFiles[0]?.text).not.toMatch(/from ?["']node:/);
});
