import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const linesByFile = {
  'packages/core/src/log.ts': [
    'export const a = given as string;',
    'export const b = given as string; // The line above it wrote it.',
    '// It was parsed by its schema.',
    'export const c = given as string;',
    'export const d = [1, 2] as const;',
    '/** What a person reads of it is no reason. */',
    'export const e = <string>given;',
    'export const f = given as unknown as string;',
    '// One reason is enough for the whole of a statement that',
    'export const g = made({',
    '  of: 1,',
    '}) as string;',
    'export const h = made({',
    '  of: 1, // What a field is, is no reason.',
    '  and: 2,',
    '}) as string;',
  ],
  'packages/core/src/log.test.ts': ['export const a = given as string;'],
  'packages/core/src/log-contract.ts': ['export const a = given as string;'],
};

let folder: string;
let complaints: string[];
beforeAll(() => {
  const repository = fileURLToPath(new URL('..', import.meta.url));
  folder = mkdtempSync(join(tmpdir(), 'parley-casts-'));
  for (const file of ['.oxlintrc.json', 'scripts/lint-rules.mjs'])
    cpSync(join(repository, file), join(folder, file), { recursive: true });
  for (const [file, lines] of Object.entries(linesByFile)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${lines.join('\n')}\n`);
  }
  const oxlint = [join(repository, 'node_modules/oxlint/bin/oxlint'), '-f', 'unix'];
  const { stdout } = spawnSync(process.execPath, oxlint, { cwd: folder, encoding: 'utf8' });
  complaints = stdout.split('\n').filter((line) => line.includes('reasoned-cast'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('a cast in the product says beside it or above it why it is true; tests may cast', () => {
  const lines = complaints.map((line) => line.split(':').slice(0, 2).join(':'));
  const at = (line: number): string => `packages/core/src/log.ts:${line}`;
  expect([...new Set(lines)].toSorted()).toEqual([at(1), at(13), at(7), at(8)]);
});
