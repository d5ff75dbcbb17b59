/** Builds the web app into the hub's dist/: files named by their content, the shell, the worker that keeps them. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { build } from 'esbuild';

import { bundles } from './bundles.mjs';

const source = 'packages/dashboard';

/** Builds everything anew; what an older build left is removed. */
export async function buildDashboard() {
  const { outdir } = bundles.dashboard;
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const { metafile } = await build({ ...bundles.dashboard, metafile: true });
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({
    name: basename(path),
    ...output,
  }));
  const built = (path) => `/${outputs.find(({ entryPoint }) => entryPoint === `${source}/src/${path}`).name}`;
  const page = readFileSync(join(source, 'public', 'index.html'), 'utf8')
    .replace('%STYLE%', built('styles/index.css'))
    .replace('%LATER%', built('styles/later.css'))
    .replace('%SCRIPT%', built('main.tsx'));
  for (const name of readdirSync(join(source, 'public')))
    if (name !== 'index.html') copyFileSync(join(source, 'public', name), join(outdir, name));
  writeFileSync(join(outdir, 'index.html'), page);
  const shell = ['/', ...outputs.map(({ name }) => `/${name}`), '/app.webmanifest', '/icon.svg'];
  const digest = createHash('sha256').update(page).update(shell.join()).digest('hex').slice(0, 12);
  await build({
    ...bundles.dashboard,
    entryPoints: { sw: `${source}/src/worker.ts` },
    entryNames: '[name]',
    splitting: false,
    define: { SHELL: JSON.stringify(shell), BUILD: JSON.stringify(digest) },
  });
}
