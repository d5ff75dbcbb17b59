import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { takeOwnLock } from './own-lock.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'parley-own-lock-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test('a lock of our own is taken by one at a time, in a folder for its owner alone', async () => {
  const path = join(folder(), 'deep', 'er', 'lock');
  const held = await takeOwnLock(path, 0);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  const startedAt = performance.now();
  await expect(takeOwnLock(path, 100)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: `${path} is held by another process; try again`,
    details: { path },
  });
  expect(performance.now() - startedAt).toBeGreaterThan(99);
  const waiting = takeOwnLock(path, 5_000);
  held.release();
  (await waiting).release();
});

test('what can be no lock is told as it is, without waiting', async () => {
  const path = join(folder(), 'lock');
  mkdirSync(path);
  const startedAt = performance.now();
  await expect(takeOwnLock(path, 60_000)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(existsSync(path)).toBe(true);
});
