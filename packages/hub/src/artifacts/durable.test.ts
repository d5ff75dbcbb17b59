import { existsSync, fstatSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { blobPath } from './artifact-folder.ts';
import { openLocalBlobs } from './local-blobs.ts';
import { openStage } from './stage.ts';

let data: string;
/** The files and folders that were synced, by their number, with their size and which names were in place by then. */
let synced: { ino: number; size: number; kept: boolean }[];
let keptPath = '';
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'blobs-'));
  synced = [];
  const handle = await open(data, 'r');
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = Reflect.get(handles, 'sync');
  vi.spyOn(handles, 'sync').mockImplementation(function (this: FileHandle) {
    const { ino, size } = fstatSync(this.fd);
    synced.push({ ino, size, kept: existsSync(keptPath) });
    return sync.call(this);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(data, { recursive: true, force: true });
});

test('[R1] the bytes of an artifact are synced before they are handed on, and its name before it counts as kept', async () => {
  const bytes = Buffer.from('all of the bytes');
  const stage = openStage(data, 1_000);
  const blobs = openLocalBlobs(data, Date.now);
  async function* body(): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(0, 3);
    yield bytes.subarray(3);
  }
  await stage(body(), { mime_type: 'text/plain', sha256: undefined }, async (staged) => {
    const { ino, size } = statSync(staged.path);
    expect(size).toBe(bytes.length);
    expect(synced).toContainEqual({ ino, size, kept: false });
    keptPath = blobPath(data, staged.sha256);
    synced = [];
    await blobs.keep('w', staged);
    expect(synced.filter(({ kept }) => kept).map((one) => one.ino)).toEqual([
      statSync(dirname(keptPath)).ino,
    ]);
  });
});
