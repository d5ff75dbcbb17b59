/**
 * Puts each test of a mutated copy, with all that it imports, into a few files, in its own place. A new thread loads
 * them for every mutant, and hundreds of small ones take longer than the tests. Runs inside the copy.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

import { build } from 'esbuild';

import { filesOf } from '../mutation-files.ts';

const packageFile = z.object({
  name: z.string(),
  exports: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});

const copy = process.cwd();
const tests = z.array(z.string()).parse(JSON.parse(process.env['MUTATION_TESTS'] ?? '[]'));

await build({
  entryPoints: filesOf(copy, tests),
  outdir: '.',
  outbase: '.',
  outExtension: { '.js': '.ts' },
  allowOverwrite: true,
  chunkNames: 'bundled/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  alias: ownPackages(),
  external: ['vitest', '@photostructure/sqlite'],
  logLevel: 'error',
});

/** Where the packages of the copy have their sources: the links of node_modules lead to those that are not mutated. */
function ownPackages(): Record<string, string> {
  const folders = readdirSync(join(copy, 'packages')).map((name) => join(copy, 'packages', name));
  return Object.fromEntries(
    folders.flatMap((folder) => {
      const text = readFileSync(join(folder, 'package.json'), 'utf8');
      const { name, exports = {} } = packageFile.parse(JSON.parse(text));
      const entries = typeof exports === 'string' ? { '.': exports } : exports;
      return Object.entries(entries).map(([path, source]) => [join(name, path), join(folder, source)]);
    }),
  );
}
