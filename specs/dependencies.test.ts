import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';
import * as z from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));
const Names = z.record(z.string(), z.string()).default({});
const Package = z.object({ dependencies: Names, optionalDependencies: Names, devDependencies: Names });

test('decision 0007 names every package of others that we depend on, and why', () => {
  const page = readFileSync(join(root, 'docs/decisions/0007-dependencies.md'), 'utf8');
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
  const names = ['.', ...folders].flatMap((folder) => {
    const text = readFileSync(join(root, folder, 'package.json'), 'utf8');
    const lists = Package.parse(JSON.parse(text));
    return Object.values(lists).flatMap((list) => Object.keys(list));
  });
  const others = [...new Set(names)].filter((name) => !name.startsWith('@parley/'));
  const isNamed = (name: string): boolean =>
    page.includes(name) || (name.startsWith('@') && page.includes(name.replace(/^@[^/]+\//, '')));
  expect(others.length).toBeGreaterThan(30);
  expect(others.filter((name) => !isNamed(name) && !name.startsWith('@types/'))).toEqual([]);
});
