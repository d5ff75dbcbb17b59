/** Builds the documentation into the hub's dist/: pages, their style and their search, with nothing to fetch. */
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

import { build } from 'esbuild';

import { bundles } from './bundles.mjs';
import { readPages, searchIndex, wholePage } from './docs-pages.mjs';
import { builtFiles, namesIn, writeBuilt } from './write-built.mjs';

const source = 'packages/dashboard/src/documentation';

/** Builds everything anew; what an older build left is removed. */
export async function buildDocs() {
  const outdir = 'packages/hub/dist/docs';
  const entryPoints = { search: `${source}/search.ts`, style: `${source}/documentation.css` };
  const app = await build({
    ...bundles.dashboard,
    outdir,
    entryPoints,
    splitting: false,
    metafile: true,
    write: false,
  });
  const files = builtFiles(resolve(outdir), app);
  const built = (name) =>
    `/docs/${basename(Object.entries(app.metafile.outputs).find(([, one]) => one.entryPoint === `${source}/${name}`)[0])}`;
  const parts = { style: built('documentation.css'), script: built('search.ts') };
  const pages = readPages();
  for (const page of pages)
    files.set(
      `${page.address.slice('/docs/'.length) || 'index'}.html`,
      Buffer.from(wholePage(page, pages, parts)),
    );
  files.set('search.json', Buffer.from(JSON.stringify(searchIndex(pages))));
  // What lies below is for whoever reads the clone.
  for (const name of namesIn('docs/pictures').filter((one) => /^[^/]+\.png$/.test(one)))
    files.set(join('pictures', name), readFileSync(join('docs/pictures', name)));
  writeBuilt(outdir, files);
}
