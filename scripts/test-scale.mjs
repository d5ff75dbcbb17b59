/** `npm run test:scale`: what people see of the hub, on three nodes over PostgreSQL and NATS; says what stays single, and why. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { installTestTools } from '../tests/tools/install.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const FILES = [
  ...['hub', 'events', 'ws', 'knowledge', 'mcp', 'client', 'api', 'notify', 'metrics'].map(
    (name) => `tests/${name}/`,
  ),
  'tests/dashboard/flows.test.ts',
];

const startedAt = Date.now();
const { embedded, oneNode } = JSON.parse(readFileSync(`${root}tests/single-node.json`, 'utf8'));
list('On the embedded store alone', embedded);
list('On PostgreSQL and NATS with one node', oneNode);

const passed = await runAll();
const { pass, fail, skip } = counts();
process.stdout.write(`scale: ${pass} passed, ${fail} failed, ${skip} skipped\n`);
process.exitCode = passed && fail === 0 ? 0 : 1;

async function runAll() {
  const tools = await installTestTools();
  for (const name of ['postgres', 'nats-server'])
    if (tools[name]?.path === undefined) {
      process.stderr.write(`${name} is not there: ${tools[name]?.missing ?? 'unknown'}\n`);
      return false;
    }
  const asked = process.argv.slice(2);
  const projects = ['--project', 'system', '--project', 'crowd'];
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...projects,
    ...(asked.length > 0 ? asked : FILES),
  ];
  return run(['scripts/build.mjs']) && run(vitest, { ...process.env, PARLEY_TEST_STORE: 'postgres' });
}

function list(title, reasons) {
  process.stdout.write(`${title}:\n`);
  for (const [what, why] of Object.entries(reasons)) process.stdout.write(`  ${what}: ${why}\n`);
}

function run(argv, env = process.env) {
  return spawnSync(process.execPath, argv, { cwd: root, stdio: 'inherit', env }).status === 0;
}

/** What was left out by name stands above with its reason, and runs in `npm test`. */
function counts() {
  const count = { pass: 0, fail: 0, skip: 0 };
  const path = `${root}.cache/test-results.partial.json`;
  if (!existsSync(path)) return count;
  const { endedAt, tests } = JSON.parse(readFileSync(path, 'utf8'));
  if (Date.parse(endedAt) < startedAt) return count;
  const isLeftOut = ({ file, name }) =>
    Object.keys(embedded).some(
      (one) => one.startsWith(`${file} > `) && name.endsWith(one.slice(file.length + 3)),
    );
  for (const test of tests) if (!isLeftOut(test)) count[test.state] += 1;
  return count;
}
