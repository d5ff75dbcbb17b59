import { existsSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const page = readFileSync(new URL('docs/proof.md', root), 'utf8');
const [, chapter = ''] = page.split('\n## Wrong changes that the tests catch\n');
const rows = chapter
  .split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('every wrong change in docs/proof.md names a file of the product, and a test that is there', () => {
  expect(rows?.length).toBeGreaterThan(30);
  for (const [, change = '', places = '', file = '', name = ''] of rows ?? []) {
    for (const place of places.split(', ')) {
      const path = /^(?:tests|specs)\//.test(place) ? place : `packages/${place}`;
      expect(existsSync(new URL(path, root)), `${change}: ${path}`).toBe(true);
    }
    expect(readFileSync(new URL(file, root), 'utf8'), change).toContain(name);
  }
});
