/** `npm run test:scale`: the tests of the hub, its faces and its clients over PostgreSQL; says what stays single, and why. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { installTestTools } from '../tests/tools/install.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const USUAL = ['hub', 'events', 'ws', 'knowledge', 'mcp', 'client', 'wake', 'notify', 'metrics', 'postgres'];

const single = JSON.parse(readFileSync(`${root}tests/single-node.json`, 'utf8'));
process.stdout.write('Not on PostgreSQL:\n');
for (const [files, why] of Object.entries(single)) process.stdout.write(`  ${files}: ${why}\n`);

const { postgres } = await installTestTools();
if (postgres?.path === undefined) {
  process.stderr.write(`PostgreSQL is not there: ${postgres?.missing ?? 'unknown'}\n`);
  process.exit(1);
}
const run = (argv, env) =>
  spawnSync(process.execPath, argv, { cwd: root, stdio: 'inherit', env }).status === 0;
const asked = process.argv.slice(2);
const files = asked.length > 0 ? asked : USUAL.map((name) => `tests/${name}/`);
const env = { ...process.env, PARLEY_TEST_STORE: 'postgres' };
const isBuilt = run(['scripts/build.mjs'], process.env);
const passed =
  isBuilt && run(['node_modules/vitest/vitest.mjs', 'run', '--project', 'system', ...files], env);
process.exitCode = passed ? 0 : 1;
