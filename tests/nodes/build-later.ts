import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { build, type Plugin } from 'esbuild';

import { bundles } from '../../scripts/bundles.mjs';
import { atFileEnd } from '../harness/at-file-end.ts';

const BUILT = resolve('packages/hub/dist');

/** What a later release does to the schema. */
export interface LaterSchema {
  /** Further migrations, as SQL. */
  steps: readonly string[];
  /** The oldest schema whose nodes may go on over it. */
  oldest: number;
}

/** Builds the hub as a later release with another schema, and gives the program to run; this build stays what it is. */
export async function buildLater(schema: LaterSchema): Promise<string> {
  // Inside the repository, for what is native is found from there.
  mkdirSync('.cache', { recursive: true });
  const folder = mkdtempSync(join(process.cwd(), '.cache', 'later-'));
  atFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  const dist = join(folder, 'dist');
  await build({
    ...bundles.hub,
    plugins: [withSchema(schema), ...(bundles.hub.plugins ?? [])],
    sourcemap: false,
    outdir: dist,
  });
  // The threads, the web app and the documentation are the same.
  const own = new Set(readdirSync(dist));
  for (const name of readdirSync(BUILT))
    if (!own.has(name) && !name.startsWith('part-')) symlinkSync(join(BUILT, name), join(dist, name));
  cpSync('packages/hub/bin', join(folder, 'bin'), { recursive: true });
  return join(folder, 'bin', 'parley.mjs');
}

function withSchema({ steps, oldest }: LaterSchema): Plugin {
  return {
    name: 'a later schema',
    setup(bundle) {
      bundle.onLoad({ filter: /store-postgres\/src\/schema\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        const contents = text
          .replace(/^\];$/m, `${steps.map((step) => JSON.stringify(step)).join(',\n')},\n];`)
          .replace(/(OLDEST_SERVED = )\d+/, `$1${oldest}`);
        return { contents, loader: 'ts' };
      });
    },
  };
}
