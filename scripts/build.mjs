/** Bundles each binary into its package's dist/. */
import { build } from 'esbuild';

import { bundles } from './bundles.mjs';

for (const bundle of Object.values(bundles)) await build(bundle);
