/** Builds the web app into the hub's dist/: files named by their content, the shell, the worker that keeps them. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

import { build } from 'esbuild';

import { bundles } from './bundles.mjs';
import { builtFiles, writeBuilt } from './write-built.mjs';

const source = 'packages/dashboard';

/** Builds everything anew; what an older build left is removed. */
export async function buildDashboard() {
  const { outdir } = bundles.dashboard;
  const app = await build({ ...bundles.dashboard, metafile: true, write: false });
  const files = builtFiles(resolve(outdir), app);
  const outputs = Object.entries(app.metafile.outputs).map(([path, output]) => ({
    name: basename(path),
    ...output,
  }));
  const built = (path) => `/${outputs.find(({ entryPoint }) => entryPoint === `${source}/src/${path}`).name}`;
  const page = readFileSync(join(source, 'public', 'index.html'), 'utf8')
    .replace('%STYLE%', built('styles/index.css'))
    .replace('%LATER%', built('styles/later.css'))
    .replace('%SCRIPT%', built('main.tsx'));
  for (const name of readdirSync(join(source, 'public')))
    files.set(name, name === 'index.html' ? Buffer.from(page) : readFileSync(join(source, 'public', name)));
  const shell = ['/', ...outputs.map(({ name }) => `/${name}`), '/app.webmanifest', '/icon.svg'];
  const digest = createHash('sha256').update(page).update(shell.join()).digest('hex').slice(0, 12);
  const worker = await build({
    ...bundles.dashboard,
    entryPoints: { sw: `${source}/src/worker.ts` },
    entryNames: '[name]',
    splitting: false,
    define: { SHELL: JSON.stringify(shell), BUILD: JSON.stringify(digest) },
    write: false,
  });
  writeBuilt(outdir, new Map([...files, ...builtFiles(resolve(outdir), worker)]));
}
