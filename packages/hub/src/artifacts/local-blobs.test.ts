import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { blobPath } from './artifact-folder.ts';
import { type LocalBlobs, openLocalBlobs } from './local-blobs.ts';

const bytes = randomBytes(300_000);
const kept = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
const LATE_MS = 60_000;

let data: string;
let path: string;
let blobs: LocalBlobs;
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'blobs-'));
  path = blobPath(data, kept.sha256);
  // Long after the file was written, so that what is found of it is remembered.
  blobs = openLocalBlobs(data, () => Date.now() + LATE_MS);
  const staged = join(data, 'staged');
  writeFileSync(staged, bytes);
  await blobs.keep('w', { ...kept, path: staged });
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const spans = [
  ['the whole', undefined],
  ['a part', { first: 10, last: 250_000 }],
] as const;

async function gather(pieces: AsyncIterable<Uint8Array>, between = (): void => {}): Promise<Buffer> {
  const gathered: Uint8Array[] = [];
  for await (const piece of pieces) {
    if (gathered.push(piece) === 1) between();
  }
  return Buffer.concat(gathered);
}

/** Changes a byte, and gives the file the times it had. */
function flip(at: number): void {
  const { atime, mtime } = statSync(path);
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.from([(bytes[at] ?? 0) ^ 1]), 0, 1, at);
  closeSync(file);
  utimesSync(path, atime, mtime);
}

test.each(spans)('%s comes as it was kept, again and again', async (_name, span) => {
  const { first = 0, last = bytes.length - 1 } = span ?? {};
  for (let i = 0; i < 3; i++)
    expect((await gather(blobs.pieces(kept, span))).equals(bytes.subarray(first, last + 1))).toBe(true);
});

test.each(spans)(
  '%s of a file whose content changed under the same size and time is not served',
  async (_name, span) => {
    await gather(blobs.pieces(kept, span));
    flip(299_999);
    await expect(blobs.pieces(kept, span)[Symbol.asyncIterator]().next()).rejects.toThrow('are damaged');
  },
);

test.each(spans)('%s that is changed while it goes out lacks its end', async (_name, span) => {
  for (const change of [() => flip(200_000), () => truncateSync(path, 150_000)]) {
    let size = 0;
    const reading = async (): Promise<void> => {
      for await (const piece of blobs.pieces(kept, span)) {
        if (size === 0) change();
        size += piece.length;
      }
    };
    await expect(reading()).rejects.toThrow('are damaged');
    expect(size).toBeLessThan(span === undefined ? bytes.length : span.last - span.first + 1);
    writeFileSync(path, bytes);
  }
});

test('what is added while it goes out does not, and a new copy in its place does not matter', async () => {
  const twice = await gather(blobs.pieces(kept), () => appendFileSync(path, bytes));
  expect(twice.equals(bytes)).toBe(true);
  writeFileSync(path, bytes);
  const replace = (): void => {
    writeFileSync(`${path}.other`, bytes);
    renameSync(`${path}.other`, path);
  };
  const part = await gather(blobs.pieces(kept, { first: 0, last: 200_000 }), replace);
  expect(part.equals(bytes.subarray(0, 200_001))).toBe(true);
});

test('a file without any bytes is one, too', async () => {
  const none = { sha256: createHash('sha256').digest('hex'), bytes: 0 };
  writeFileSync(join(data, 'staged'), '');
  await blobs.keep('w', { ...none, path: join(data, 'staged') });
  expect(await gather(blobs.pieces(none))).toHaveLength(0);
});

test('whoever goes early leaves no file open', async () => {
  const before = readdirSync('/proc/self/fd').length;
  for (let i = 0; i < 20; i++) {
    const pieces = blobs.pieces(kept)[Symbol.asyncIterator]();
    await pieces.next();
    await pieces.return?.();
  }
  expect(readdirSync('/proc/self/fd').length).toBe(before);
});

test('what is missing is damage on a hub of one node; of several nodes another may have it, and the error says what to do', async () => {
  rmSync(path);
  await expect(gather(blobs.read('w', kept.sha256))).rejects.toMatchObject({ code: 'INTERNAL' });
  const node = openLocalBlobs(data, Date.now, true);
  const lacking = { code: 'UNAVAILABLE', message: expect.stringContaining('artifacts.bucket') as string };
  await expect(gather(node.read('w', kept.sha256))).rejects.toMatchObject(lacking);
  await expect(gather(node.pieces(kept))).rejects.toMatchObject(lacking);
  writeFileSync(path, 'other bytes');
  await expect(gather(node.read('w', kept.sha256))).rejects.toMatchObject({ code: 'INTERNAL' });
});
