/** `npm test`: builds, installs the test tools, runs vitest, checks the proofs, closes with one line of counts. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const help = `Usage: npm test [-- vitest arguments]

Without arguments every test runs, and the run decides which clauses are proved.
With arguments (files, -t NAME, --project unit, …) vitest runs just those; proofs stay as they were.
`;

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);

if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(help);
} else {
  const startedAt = Date.now();
  const full = args.length === 0;
  const passed = await runAll(full, startedAt);
  const count = counts(full ? 'test-results.json' : 'test-results.partial.json', startedAt);
  process.stdout.write(`${count.pass} passed, ${count.fail} failed, ${count.skip} skipped\n`);
  process.exitCode = passed && count.fail === 0 ? 0 : 1;
}

async function runAll(full, startedAt) {
  if (!run(['scripts/build.mjs'])) return false;

  if (!(await installTools())) return false;

  const env = { ...process.env, FULL_TEST_RUN: full ? 'yes' : 'no' };
  const passed = run(['node_modules/vitest/vitest.mjs', 'run', ...args], env);
  const proved = !full || run(['--import', 'tsx', 'specs/check-proof.ts', '--since', String(startedAt)]);
  return passed && proved;
}

async function installTools() {
  const module = new URL('../tests/tools/install.mjs', import.meta.url);
  if (!existsSync(module)) return true;
  try {
    const { installTestTools } = await import(module.href);
    await installTestTools();
    return true;
  } catch (error) {
    process.stderr.write(`The test tools could not be installed: ${error.stack ?? error}\n`);
    return false;
  }
}

function run(argv, env = process.env) {
  return spawnSync(process.execPath, argv, { cwd: root, stdio: 'inherit', env }).status === 0;
}

function counts(file, startedAt) {
  const count = { pass: 0, fail: 0, skip: 0 };
  const path = `${root}.cache/${file}`;
  if (!existsSync(path)) return count;
  const { endedAt, tests } = JSON.parse(readFileSync(path, 'utf8'));
  if (Date.parse(endedAt) < startedAt) return count;
  for (const { state } of tests) count[state] += 1;
  return count;
}
