import fs, { existsSync, fstatSync, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { makeFolderSync, writeNew, writeNewSync, writeWhole, writeWholeSync } from './index.ts';

let folder: string;
let path: string;
/** What was synced, in its order: how much of a file, or a folder, and whether the name was in place by then. */
let synced: { file: number | 'folder'; inPlace: boolean }[];
const fsyncSync = fs.fsyncSync;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'files-'));
  path = join(folder, 'kept.json');
  synced = [];
  const note = (fd: number): void => {
    const stat = fstatSync(fd);
    synced.push({ file: stat.isDirectory() ? 'folder' : stat.size, inPlace: existsSync(path) });
  };
  const handle = await open(folder, 'r');
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = Reflect.get(handles, 'sync');
  vi.spyOn(handles, 'sync').mockImplementation(function (this: FileHandle) {
    note(this.fd);
    return sync.call(this);
  });
  fs.fsyncSync = (fd) => {
    note(fd);
    fsyncSync(fd);
  };
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  fs.fsyncSync = fsyncSync;
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true, force: true });
});

const TEXT = 'all of it';

test.each([
  ['writeWhole', writeWhole],
  ['writeWholeSync', async (to: string, pieces: string[]) => writeWholeSync(to, pieces)],
])(
  '[R1] %s syncs all bytes before the name is in place, and the name before it returns',
  async (_name, write) => {
    await write(path, [TEXT.slice(0, 3), TEXT.slice(3)]);
    expect(synced).toEqual([
      { file: TEXT.length, inPlace: false },
      { file: 'folder', inPlace: true },
    ]);
  },
);

test.each([
  ['writeNew', writeNew],
  ['writeNewSync', async (to: string, text: string) => writeNewSync(to, text)],
])('[R1] %s returns when all bytes are synced', async (_name, write) => {
  await write(path, TEXT);
  expect(synced).toEqual([{ file: TEXT.length, inPlace: true }]);
});

test('[R1] a new folder is synced in each one above it that was made with it', () => {
  makeFolderSync(join(folder, 'a', 'b', 'c'));
  expect(synced.map(({ file }) => file)).toEqual(['folder', 'folder', 'folder']);
  makeFolderSync(join(folder, 'a', 'b', 'c'));
  expect(synced).toHaveLength(3);
});
