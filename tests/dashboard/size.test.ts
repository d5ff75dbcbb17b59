import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';
import { expect, test } from 'vitest';

import { bundles } from '../../scripts/bundles.mjs';

const KILOBYTE = 1_000;

test('the first load is at most 40 kB of packed script and style, and what the thread page adds at most 45 kB', async () => {
  const { metafile, outputFiles } = await build({
    ...bundles.dashboard,
    absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
    write: false,
    metafile: true,
  });
  const outputs = metafile.outputs;
  const packed = (path: string): number =>
    gzipSync(outputFiles.find((file) => file.path.endsWith(path))?.contents ?? '', { level: 9 }).length;

  /** A file and all that it cannot start without. */
  function needs(path: string, seen = new Set<string>()): Set<string> {
    if (seen.has(path)) return seen;
    seen.add(path);
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement') needs(next, seen);
    return seen;
  }

  const builtFrom = (source: string): string =>
    Object.keys(outputs).find((path) => outputs[path]?.entryPoint === `packages/dashboard/src/${source}`) ??
    '';
  const size = (paths: Iterable<string>): number => [...paths].reduce((sum, path) => sum + packed(path), 0);
  const first = new Set([...needs(builtFrom('main.tsx')), builtFrom('styles/index.css')]);
  const thread = needs(builtFrom('pages/thread.tsx'));
  expect(size(first)).toBeGreaterThan(10 * KILOBYTE);
  expect(size(first)).toBeLessThanOrEqual(40 * KILOBYTE);
  expect(size([...thread].filter((path) => !first.has(path)))).toBeLessThanOrEqual(45 * KILOBYTE);
});
