import { appendFile, link, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { readNewLines, type ReadPlace } from './read-new-lines.ts';

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'records-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Reads on where it stopped, as often as it is called. */
function readerOf(folder: string, name = path.join(folder, 'a.jsonl')) {
  let place: ReadPlace | undefined;
  let replaced = 0;
  return {
    replaced: () => replaced,
    async read(): Promise<string[] | undefined> {
      const lines: string[] = [];
      const onLine = (line: string): void => void lines.push(line);
      const onNew = (): void => void (replaced += 1);
      const read = await readNewLines({ folder, path: name, place, onNew, onLine });
      if (read === undefined) return undefined;
      place = { file: read.file, offset: read.offset };
      return lines;
    },
  };
}

test('each whole line is read once, and one that is half written waits until it is whole', async () => {
  const folder = await folderOf();
  const file = path.join(folder, 'a.jsonl');
  const reader = readerOf(folder);
  expect(await reader.read()).toBeUndefined();
  await writeFile(file, 'one\ntw');
  expect(await reader.read()).toEqual(['one']);
  expect(await reader.read()).toEqual([]);
  await appendFile(file, 'o ü');
  expect(await reader.read()).toEqual([]);
  await appendFile(file, '\nthree\n');
  expect(await reader.read()).toEqual(['two ü', 'three']);
  expect(await reader.read()).toEqual([]);
  expect(reader.replaced()).toBe(0);
});

test('lines longer than a piece are whole, and one that is longer than any of ours is left out', async () => {
  const folder = await folderOf();
  const long = 'x'.repeat(700_000);
  await writeFile(path.join(folder, 'a.jsonl'), `${long}\n${'y'.repeat(9_000_000)}\nlast\n`);
  expect(await readerOf(folder).read()).toEqual([long, 'last']);
});

test('what is longer than is read at once comes with the next looks', async () => {
  const folder = await folderOf();
  const line = 'z'.repeat(1_000_000);
  await writeFile(path.join(folder, 'a.jsonl'), `${line}\n`.repeat(40));
  const reader = readerOf(folder);
  const first = (await reader.read())?.length ?? 0;
  expect(first).toBeGreaterThan(30);
  expect(first).toBeLessThan(40);
  expect((await reader.read())?.length).toBe(40 - first);
});

test('another file in its place is read from its beginning, and said to be another', async () => {
  const folder = await folderOf();
  const file = path.join(folder, 'a.jsonl');
  const reader = readerOf(folder);
  await writeFile(file, 'one\ntwo\n');
  await reader.read();
  await writeFile(path.join(folder, 'b'), 'one\ntwo\nthree\n');
  await rename(path.join(folder, 'b'), file);
  expect(await reader.read()).toEqual(['one', 'two', 'three']);
  expect(reader.replaced()).toBe(1);
  await writeFile(file, 'less\n');
  expect(await reader.read()).toEqual(['less']);
  expect(reader.replaced()).toBe(2);
});

test('nothing outside of the folder is read, wherever a link leads, and nothing that is no file', async () => {
  const [folder, other] = [await folderOf(), await folderOf()];
  await writeFile(path.join(other, 'secret'), 'secret\n');
  await symlink(path.join(other, 'secret'), path.join(folder, 'a.jsonl'));
  expect(await readerOf(folder).read()).toBeUndefined();
  await symlink(other, path.join(folder, 'sub'));
  expect(await readerOf(folder, path.join(folder, 'sub', 'secret')).read()).toBeUndefined();
  expect(
    await readerOf(folder, path.join(folder, '..', path.basename(other), 'secret')).read(),
  ).toBeUndefined();
  await mkdir(path.join(folder, 'd.jsonl'));
  expect(await readerOf(folder, path.join(folder, 'd.jsonl')).read()).toBeUndefined();
  // A link within the folder, and a folder that is one itself, are the person's own order.
  await link(path.join(other, 'secret'), path.join(folder, 'hard'));
  await symlink(path.join(folder, 'hard'), path.join(folder, 'inner'));
  await symlink(folder, path.join(other, 'home'));
  const through = path.join(other, 'home');
  expect(await readerOf(through, path.join(through, 'inner')).read()).toEqual(['secret']);
});
