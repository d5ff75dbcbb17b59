import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { writeNew, writeNewSync, writeWhole, writeWholeSync } from './index.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'));
  path = join(folder, 'kept.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function* breaking(): Generator<string> {
  yield 'half of ';
  throw new Error('no more');
}

const writers = [
  ['writeWhole', async (content: string | Iterable<string | Uint8Array>) => writeWhole(path, content)],
  [
    'writeWholeSync',
    async (content: string | Iterable<string | Uint8Array>) => writeWholeSync(path, content),
  ],
] as const;

test.each(writers)(
  '%s puts texts and pieces in place, private, over what was there',
  async (_name, write) => {
    await write('first');
    await write(['sec', Buffer.from('ond')]);
    expect(readFileSync(path, 'utf8')).toBe('second');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['kept.json']);
  },
);

test.each(writers)('%s leaves the old file and nothing else when it cannot go on', async (_name, write) => {
  await write('old');
  await expect(write(breaking())).rejects.toThrow('no more');
  mkdirSync(join(folder, 'taken'));
  path = join(folder, 'taken');
  await expect(write('text')).rejects.toThrow('EISDIR');
  expect(readdirSync(folder)).toEqual(['kept.json', 'taken']);
  expect(readFileSync(join(folder, 'kept.json'), 'utf8')).toBe('old');
});

test('a new file is never put over another, nor behind a link', async () => {
  const other = join(folder, 'other');
  await writeNew(path, ['hel', 'lo']);
  writeNewSync(other, 'hello');
  await expect(writeNew(path, 'again')).rejects.toThrow('EEXIST');
  expect(() => writeNewSync(other, 'again')).toThrow('EEXIST');
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'));
  await expect(writeNew(join(folder, 'link'), 'x')).rejects.toThrow('EEXIST');
  await expect(writeNew(join(folder, 'half'), breaking())).rejects.toThrow('no more');
  expect(readdirSync(folder)).toEqual(['kept.json', 'link', 'other']);
  expect(readFileSync(path, 'utf8')).toBe('hello');
});

test('what a killed process left half-written goes with the first write of the next one; what others still write stays', () => {
  const { pid: gone } = spawnSync('true');
  const left = (pid: number, of = 'kept.json'): string => {
    const name = `${of}.${pid}.0123abcd.new`;
    writeFileSync(join(folder, name), 'half');
    return name;
  };
  left(gone);
  const ours = left(process.pid);
  const long = join(folder, `kept.json.${process.pid}.89abcdef.new`);
  mkdirSync(long);
  utimesSync(long, new Date(0), new Date(0));
  const foreign = left(gone, 'other.json');
  writeFileSync(join(folder, 'kept.json.new'), 'a file of the user');
  writeWholeSync(path, 'text');
  expect(readdirSync(folder)).toEqual(['kept.json', ours, 'kept.json.new', foreign]);
});
