/** Bundles each binary into its package's dist/, and the web app into the hub's. */
import { build } from 'esbuild';

import { buildDashboard } from './build-dashboard.mjs';
import { bundles } from './bundles.mjs';

const { dashboard: _app, ...binaries } = bundles;
for (const bundle of Object.values(binaries)) await build(bundle);
await buildDashboard();
