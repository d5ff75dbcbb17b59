import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, expect, test } from 'vitest';

import { openUrlKeys } from '../artifacts/url-keys.ts';
import { folderFiles } from './folder-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-kept-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('changes at the same moment are made one after the other, none is lost, and one that fails holds up nobody', async () => {
  const files = folderFiles(folder);
  const add = (letter: string) =>
    files.change('slo.json', async (text = '') => {
      await sleep(5);
      if (letter === 'x') throw new Error('no');
      return text + letter;
    });
  const done = await Promise.allSettled(['a', 'x', 'b', 'c'].map(add));
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(files.look('slo.json').text).toBe('abc');
});

test('two who want the first secret of URLs at the same moment get the same one', async () => {
  const keys = openUrlKeys(folderFiles(folder), () => Date.now());
  const [one, other] = await Promise.all([keys.current(), keys.current()]);
  expect(one).toEqual(other);
});
