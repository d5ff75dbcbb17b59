import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { takeDirectoryLock } from './directory-lock.ts';

/** A file whose lock somebody took so many seconds ago, as Claude Code does. */
function lockedFor(seconds: number): { path: string; lock: string } {
  const folder = mkdtempSync(join(tmpdir(), 'parley-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'inbox.json');
  const lock = `${path}.lock`;
  writeFileSync(path, '[]');
  mkdirSync(lock);
  const at = Date.now() / 1_000 - seconds;
  utimesSync(lock, at, at);
  return { path, lock };
}

test.each([0, 3, 8])(
  '[FR-20.2] a lock that was touched %d s ago is another’s: it is waited for and left alone',
  async (seconds) => {
    const { path, lock } = lockedFor(seconds);
    const before = statSync(lock).mtimeMs;
    const startedAt = performance.now();
    await expect(takeDirectoryLock(path, 100)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { path },
    });
    expect(performance.now() - startedAt).toBeGreaterThan(99);
    expect(statSync(lock).mtimeMs).toBe(before);
  },
);

test('[FR-20.2] a lock that nobody has touched for ten seconds is taken, for its owner alone, and let go of', async () => {
  const { path, lock } = lockedFor(12);
  const held = await takeDirectoryLock(path, 0);
  expect(statSync(lock).mode & 0o777).toBe(0o700);
  await expect(takeDirectoryLock(path, 0)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  held.release();
  expect(existsSync(lock)).toBe(false);
  // Somebody took it away meanwhile: letting go once more is no error.
  expect(() => held.release()).not.toThrow();
});

test('[FR-20.2] a file that is not there yet is locked by its name', async () => {
  const { path, lock } = lockedFor(0);
  rmSync(path);
  rmSync(lock, { recursive: true });
  const held = await takeDirectoryLock(path, 0);
  expect([existsSync(path), existsSync(lock)]).toEqual([false, true]);
  held.release();
  expect(existsSync(lock)).toBe(false);
});

test('what is no lock of another is told as it is', async () => {
  const folder = join(tmpdir(), 'parley-lock-of-nobody', 'inbox.json');
  await expect(takeDirectoryLock(folder, 1_000)).rejects.toMatchObject({ code: 'ENOENT' });
});
