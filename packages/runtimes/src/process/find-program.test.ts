import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { findProgram, whichProgram } from './find-program.ts';

function place(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-find-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['one', 'two']) mkdirSync(path.join(folder, name));
  return folder;
}

test('a program is the first file in PATH that can be run; a folder or a plain file of its name is passed by', () => {
  const folder = place();
  const [one, two] = ['one', 'two'].map((name) => path.join(folder, name)) as [string, string];
  const search = [one, two].join(path.delimiter);
  mkdirSync(path.join(one, 'agent'));
  writeFileSync(path.join(two, 'agent'), '#!/bin/sh\n');
  expect(whichProgram('agent', search, folder)).toBeUndefined();
  expect(() => findProgram('agent', { PATH: search }, folder)).toThrow('nor one in PATH');
  chmodSync(path.join(two, 'agent'), 0o755);
  expect(whichProgram('agent', search, folder)).toBe(path.join(two, 'agent'));
  expect(findProgram('agent', { PATH: search }, folder)).toBe(path.join(two, 'agent'));
  expect(whichProgram('two/agent', '', folder)).toBe(path.join(two, 'agent'));
  expect(whichProgram('./agent', search, folder)).toBeUndefined();
});
