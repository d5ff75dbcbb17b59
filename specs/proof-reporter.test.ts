import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cacheFolder, type TestRun } from './test-results.ts';

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const files = {
  'a.test.ts': `
    import { beforeAll, describe, test } from 'vitest';
    test('[HUB-R5] passes', () => {});
    test('fails', () => { throw new Error('no'); });
    test.skip('is skipped', () => {});
    test.todo('is to do');
    describe('suite', () => {
      beforeAll(() => { throw new Error('no'); });
      test('never starts', () => {});
    });`,
  'b.test.ts': `throw new Error('broken');`,
  'vitest.config.ts': `
    import { createProofReporter } from '../../specs/proof-reporter.ts';
    const full = process.env.RUN === 'full';
    export default { test: { reporters: [createProofReporter({ full, folder: 'out' })] } };`,
};

// Inside the repository, so that the run finds vitest and the reporter.
let folder: string;
beforeAll(() => {
  mkdirSync(cacheFolder, { recursive: true });
  folder = mkdtempSync(join(cacheFolder, 'reporter-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function runVitest(run: string, ...args: string[]): void {
  const env = { ...process.env, RUN: run };
  spawnSync(process.execPath, [vitest, 'run', ...args], { cwd: folder, env, stdio: 'ignore' });
}

test('a full run records every test, and what breaks outside tests as failures', { timeout: 30_000 }, () => {
  runVitest('full');
  const run = JSON.parse(readFileSync(join(folder, 'out/test-results.json'), 'utf8')) as TestRun;
  expect(run.tests.map(({ file, name, state }) => `${state} ${file} > ${name}`)).toEqual([
    'pass a.test.ts > [HUB-R5] passes',
    'fail a.test.ts > fails',
    'skip a.test.ts > is skipped',
    'skip a.test.ts > is to do',
    'skip a.test.ts > suite > never starts',
    'fail a.test.ts > suite > set-up and tear-down',
    'fail b.test.ts > the file loads and its hooks pass',
  ]);
});

test('a partial run is recorded apart', { timeout: 30_000 }, () => {
  rmSync(join(folder, 'out'), { recursive: true, force: true });
  runVitest('partial', '-t', 'HUB-R5');
  expect(existsSync(join(folder, 'out/test-results.partial.json'))).toBe(true);
  expect(existsSync(join(folder, 'out/test-results.json'))).toBe(false);
});
