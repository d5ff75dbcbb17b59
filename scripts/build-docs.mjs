/** Builds the documentation into the hub's dist/: pages, their style and their search, with nothing to fetch. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { build } from 'esbuild';

import { bundles } from './bundles.mjs';
import { readPages, searchIndex, wholePage } from './docs-pages.mjs';

const source = 'packages/dashboard/src/documentation';

/** Builds everything anew; what an older build left is removed. */
export async function buildDocs() {
  const outdir = 'packages/hub/dist/docs';
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const entryPoints = { search: `${source}/search.ts`, style: `${source}/documentation.css` };
  const { metafile } = await build({
    ...bundles.dashboard,
    outdir,
    entryPoints,
    splitting: false,
    metafile: true,
  });
  const built = (name) =>
    `/docs/${basename(Object.entries(metafile.outputs).find(([, one]) => one.entryPoint === `${source}/${name}`)[0])}`;
  const files = { style: built('documentation.css'), script: built('search.ts') };
  const pages = readPages();
  for (const page of pages) {
    const path = join(outdir, `${page.address.slice('/docs'.length) || '/index'}.html`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, wholePage(page, pages, files));
  }
  writeFileSync(join(outdir, 'search.json'), JSON.stringify(searchIndex(pages)));
  cpSync('docs/pictures', join(outdir, 'pictures'), { recursive: true });
}
