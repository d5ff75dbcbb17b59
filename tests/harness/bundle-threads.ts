/** Bundles the threads once for a run: translating them at every start took twenty times as long as all else they do. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { build } from 'esbuild';

import { bundles } from '../../scripts/bundles.mjs';

/** Runs before the first worker starts; workers and their threads find the folder in their environment. */
export async function setup(): Promise<() => void> {
  const { 'search-thread': search, 'sqlite-thread': sqlite } = bundles.threads.entryPoints;
  // Inside the repository, for what is native is found from there; of its own, for two runs may go on at once.
  await mkdir('.cache', { recursive: true });
  const folder = mkdtempSync(join(process.cwd(), '.cache', 'threads-'));
  await build({
    ...bundles.threads,
    entryPoints: { 'search-thread': search, 'sqlite-thread': sqlite },
    outdir: folder,
  });
  // The model of the last build, where there is one.
  symlinkSync(join(process.cwd(), 'packages/hub/dist/model'), join(folder, 'model'));
  process.env['BUNDLED_THREADS'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
