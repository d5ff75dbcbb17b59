import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { clauses } from './clauses.ts';
import { idsInSource, idsOnSuites } from './test-names.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const filesById = new Map<string, string[]>();
const testsById = new Map<string, string[]>();
for (const file of testSources()) {
  const source = readFileSync(join(root, file), 'utf8');
  const onSuites = idsOnSuites(source);
  for (const id of idsInSource(source)) {
    filesById.set(id, [...(filesById.get(id) ?? []), file]);
    if (!onSuites.includes(id)) testsById.set(id, [...(testsById.get(id) ?? []), file]);
  }
}

test('every id that a test names exists', () => {
  const known = new Set(clauses.map((clause) => clause.id));
  const typos = [...filesById]
    .filter(([id]) => !known.has(id))
    .map(([id, files]) => `${id} in ${files.join()}`);
  expect(typos).toEqual([]);
});

test('every id is named by a test of its own, not by a suite alone', () => {
  const unnamed = [...filesById]
    .filter(([id]) => !testsById.has(id))
    .map(([id, files]) => `${id} in ${files.join()}`);
  expect(unnamed).toEqual([]);
});

test('every clause of a finished area is named by a test', () => {
  const unnamed = clauses.filter((clause) => !filesById.has(clause.id));
  console.info(summary(unnamed.map((clause) => clause.dueWith)));
  expect(unnamed.filter((clause) => clause.due).map((clause) => clause.id)).toEqual([]);
});

function summary(areas: string[]): string {
  const countOf = (area: string) => areas.filter((name) => name === area).length;
  const lines = [...new Set(areas)].map((area) => `  ${area}: ${countOf(area)}`);
  return ['named by no test yet (npm run clauses -- --unproved lists them):', ...lines].join('\n');
}

// The tests of specs/ itself are left out: they write ids as examples and prove no clause.
function testSources(): string[] {
  const inPackages = filesUnder('packages').filter((file) => /(?:\.test|-contract)\.ts$/.test(file));
  const outside = ['tests', 'bench', 'examples'].flatMap(filesUnder);
  return [...inPackages, ...outside.filter((file) => /\.(?:ts|tsx|mjs)$/.test(file))];
}

function filesUnder(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return [path];
    return entry.isDirectory() && entry.name !== 'node_modules' ? filesUnder(path) : [];
  });
}
