import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFullRun, readProofs, writeRun, type TestRun } from './test-results.ts';

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
  expect(readProofs(join(folder, 'proofs'))).toEqual([]);
});

test('a partial run leaves the last full run as it was', () => {
  writeRun(run('first'), 'full', folder);
  writeRun(run('second'), 'partial', folder);
  expect(readFullRun(folder)).toEqual(run('first'));
  writeRun(run('third'), 'full', folder);
  expect(readFullRun(folder)).toEqual(run('third'));
});

test('proofs of scripts are read line by line', () => {
  const proofs = join(folder, 'proofs');
  mkdirSync(proofs);
  writeFileSync(join(proofs, 'power.jsonl'), '{"name":"[R1] x","file":"tests/power.ts","state":"pass"}\n\n');
  writeFileSync(join(proofs, 'notes.txt'), 'not a proof');
  expect(readProofs(proofs)).toEqual([{ name: '[R1] x', file: 'tests/power.ts', state: 'pass' }]);
  writeFileSync(join(proofs, 'power.jsonl'), '{"name":"[R1] x"}\n');
  expect(() => readProofs(proofs)).toThrow('file');
});
