import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { takeFlock } from './flock.ts';

let folder: string;
let path: string;
const { PATH } = process.env;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-flock-'));
  path = join(folder, 'inbox.lock');
});
afterEach(() => {
  process.env['PATH'] = PATH;
  rmSync(folder, { recursive: true, force: true });
});

test('a lock is taken by one at a time, on a file that is for its owner alone', async () => {
  const held = await takeFlock(path, 1_000);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const startedAt = performance.now();
  await expect(takeFlock(path, 100)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: `${path} is held by another program; try again`,
    details: { path },
  });
  expect(performance.now() - startedAt).toBeGreaterThan(99);
  const waiting = takeFlock(path, 5_000);
  held?.release();
  const next = await waiting;
  expect(next).toBeDefined();
  next?.release();
});

test('a file that is there is locked as it is, and what is no plain file is refused', async () => {
  writeFileSync(path, 'text', { mode: 0o644 });
  (await takeFlock(path, 1_000))?.release();
  expect(statSync(path).mode & 0o777).toBe(0o644);
  const refused = { code: 'FORBIDDEN', details: { path: join(folder, 'other') } };
  symlinkSync(path, join(folder, 'other'));
  await expect(takeFlock(join(folder, 'other'), 1_000)).rejects.toMatchObject(refused);
  rmSync(join(folder, 'other'));
  mkdirSync(join(folder, 'other'));
  await expect(takeFlock(join(folder, 'other'), 1_000)).rejects.toMatchObject(refused);
  await expect(takeFlock(join(folder, 'none', 'x'), 1_000)).rejects.toMatchObject({ code: 'ENOENT' });
});

test.runIf(process.platform === 'linux')(
  'where the machine has no flock there is no lock, and no error',
  async () => {
    process.env['PATH'] = folder;
    expect(await takeFlock(path, 1_000)).toBeUndefined();
  },
);
