/**
 * `npm run pack`: everything as npm installs it, in `packs/`: the hub with `parley`, `atm-agent-mcp`, and the client.
 * On stdout one path a line, so that `npm install -g $(npm run -s pack)` takes them. With `--as-built` the hub is not built anew.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { isModel } from './model.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'as-built': { type: 'boolean' } },
});
const packs = resolve(positionals[0] ?? 'packs');
const node = (...args) => execFileSync(process.execPath, args, { stdio: ['ignore', 2, 2] });
if (values['as-built'] !== true) node('scripts/build.mjs');
node('--import', 'tsx', 'scripts/build-client.ts');
if (!isModel('packages/hub/dist/model'))
  throw new Error('the hub has not got its search model: it is not packed without');

mkdirSync(packs, { recursive: true });
for (const source of ['packages/hub', 'packages/codex-proxy', 'clients/typescript'])
  process.stdout.write(`${pack(source)}\n`);

/** Packs what users need of a package: nothing that only its builders do stands in its manifest. */
function pack(source) {
  const {
    devDependencies: _tools,
    scripts: _steps,
    ...manifest
  } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const stage = mkdtempSync(join(root, '.cache', 'pack-'));
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync('LICENSE', join(stage, 'LICENSE'));
  for (const name of [...manifest.files, 'README.md'])
    if (existsSync(join(source, name))) cpSync(join(source, name), join(stage, name), { recursive: true });
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', packs];
  const said = execFileSync('npm', args, { cwd: stage, stdio: ['ignore', 'pipe', 2], encoding: 'utf8' });
  rmSync(stage, { recursive: true });
  const [{ filename }] = JSON.parse(said);
  return join(packs, filename);
}
