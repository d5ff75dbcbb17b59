import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { filesOf } from './mutation-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const plan = JSON.parse(readFileSync(new URL('mutation.json', import.meta.url), 'utf8')) as {
  packages: Record<string, { groups: Record<string, { mutate: string[]; tests: string[] }> }>;
};

test('a pattern stands for the files that it names, and one that names none is an error', () => {
  expect(filesOf(root, ['specs/mutation-{files,score}.ts', 'specs/mutation-f*.test.ts'])).toEqual([
    'specs/mutation-files.ts',
    'specs/mutation-score.ts',
    'specs/mutation-files.test.ts',
  ]);
  expect(() => filesOf(root, ['specs/mutation-{files,gone}.ts'])).toThrow(
    'specs/mutation-gone.ts names no file',
  );
});

test('what is mutated, and the tests that are to catch it, are there; no test is mutated', () => {
  for (const { groups } of Object.values(plan.packages))
    for (const { mutate, tests } of Object.values(groups)) {
      expect(filesOf(root, tests).every((file) => /(\.test|-contract)\.ts$/.test(file))).toBe(true);
      expect(filesOf(root, mutate).some((file) => /(\.test|-contract)\.ts$/.test(file))).toBe(false);
    }
});
