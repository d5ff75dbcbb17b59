import { existsSync } from 'node:fs';

import { expect, test } from 'vitest';

import { comparePlaces, LONG_FILES } from './longest-first.ts';

const place = (group: number, project: string, path: string) => ({ group, project, path });

test('groups keep their order, projects stay together, the longest begins and the rest stays as it was', () => {
  const files = [
    place(1, 'crowd', 'c'),
    place(0, 'unit', 'u1'),
    place(0, 'system', 's1'),
    place(0, 'unit', 'long-unit'),
    place(0, 'system', 's2'),
    place(0, 'system', 'long'),
    place(0, 'system', 'longest'),
  ];
  const sorted = files.toSorted((a, b) => comparePlaces(a, b, ['longest', 'long-unit', 'long']));
  expect(sorted.map(({ path }) => path)).toEqual(['longest', 'long', 's1', 's2', 'long-unit', 'u1', 'c']);
});

test('the list names test files that are there, each once', () => {
  expect(LONG_FILES.length).toBeGreaterThan(20);
  expect(LONG_FILES.filter((path) => !existsSync(path) || !path.endsWith('.test.ts'))).toEqual([]);
  expect(new Set(LONG_FILES).size).toBe(LONG_FILES.length);
});
