import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFullRun, writeRun, type TestRun } from './test-results.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-results-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const run = (name: string): TestRun => ({
  endedAt: '2026-01-01T00:00:00.000Z',
  tests: [{ name, file: 'a.test.ts', state: 'pass', duration: 3 }],
});

test('no run is recorded at first', () => {
  expect(readFullRun(folder)).toBeUndefined();
});

test('what else lies in the folder is no run', () => {
  for (const name of ['proofs', 'partial']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'made-up.json'), JSON.stringify(run('made up')));
  }
  writeFileSync(join(folder, 'made-up.json'), JSON.stringify(run('made up')));
  expect(readFullRun(folder)).toBeUndefined();
});

test('a partial run leaves the last full run as it was', () => {
  writeRun(run('first'), 'full', folder);
  writeRun(run('second'), 'partial', folder);
  expect(readFullRun(folder)).toEqual(run('first'));
  writeRun(run('third'), 'full', folder);
  expect(readFullRun(folder)).toEqual(run('third'));
});
