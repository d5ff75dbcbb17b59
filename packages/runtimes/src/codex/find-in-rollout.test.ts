import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { findInRollout } from './find-in-rollout.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'rollout-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const record = (text: string): string => JSON.stringify({ type: 'response_item', payload: { text } });

test('what stands in a whole record is found, what a kill has cut short is not', async () => {
  const path = join(folder, 'rollout.jsonl');
  const long = 'x'.repeat(3_000_000);
  const torn = record('<cut>').slice(0, -4);
  writeFileSync(
    path,
    [record('<one>'), record(`${long}<two>${long}`), torn, record('<four>'), torn].join('\n'),
  );
  const found = await findInRollout(path, ['<one>', '<two>', '<cut>', '<four>', '<none>']);
  expect([...found]).toEqual(['<one>', '<two>', '<four>']);
  expect(await findInRollout(path, [])).toEqual(new Set());
});

test('a record that is not there is an error, not an empty one', async () => {
  await expect(findInRollout(join(folder, 'none'), ['x'])).rejects.toThrow('ENOENT');
});
