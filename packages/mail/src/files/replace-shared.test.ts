import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { replaceShared } from './replace-shared.ts';

vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'replace-'));
  path = join(folder, 'arch.json');
  writeFileSync(path, '["first"]');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const options = { waitMs: 30_000, mayWrite: () => {}, onNoFlock: () => {} };
const list = () => JSON.parse(readFileSync(path, 'utf8')) as string[];
const add =
  (...words: string[]) =>
  (value: unknown) => ({ outcome: words, value: [...(value as string[]), ...words] });

/** What a program does that takes no lock of ours: it puts a new file in place. */
function meanwhile(word: string): void {
  writeFileSync(`${path}.other`, JSON.stringify([...list(), word]));
  renameSync(`${path}.other`, path);
}

test.each([
  ['puts another file in place', meanwhile],
  ['writes into the file', (word: string) => writeFileSync(path, JSON.stringify([...list(), word]))],
])('[FR-20.2] nothing is lost to a writer that %s in the middle, however often', async (_how, write) => {
  let runs = 0;
  await replaceShared(
    path,
    (value) => {
      runs += 1;
      if (runs <= 6) write(`theirs ${runs}`);
      return add('ours')(value);
    },
    options,
  );
  expect(list()).toEqual(['first', ...[1, 2, 3, 4, 5, 6].map((n) => `theirs ${n}`), 'ours']);
  expect(readdirSync(folder).toSorted()).toEqual(['arch.json', 'arch.lock']);
});

test('[FR-20.2] a file that appears in the middle is not written over', async () => {
  rmSync(path);
  let runs = 0;
  await replaceShared(
    path,
    (value) => {
      if (runs++ === 0) writeFileSync(path, '["theirs"]');
      return add('ours')(value ?? []);
    },
    options,
  );
  expect(list()).toEqual(['theirs', 'ours']);
});

test("[FR-20.2] Claude Code's lock is waited for, and taken when its holder has long been gone", async () => {
  mkdirSync(`${path}.lock`);
  const writing = replaceShared(path, add('ours'), options);
  const prepared = () => readdirSync(folder).filter((name) => name.endsWith('.new'));
  await vi.waitFor(() => expect(prepared()).toHaveLength(1), { timeout: 30_000 });
  meanwhile('theirs');
  rmSync(`${path}.lock`, { recursive: true });
  await writing;
  expect(list()).toEqual(['first', 'theirs', 'ours']);

  mkdirSync(`${path}.lock`);
  utimesSync(`${path}.lock`, new Date(0), new Date(0));
  await replaceShared(path, add('again'), options);
  expect(list()).toEqual(['first', 'theirs', 'ours', 'again']);
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test.runIf(process.platform === 'linux')("[FR-20.2] ATM's flock is waited for", async () => {
  const lock = join(folder, 'arch.lock');
  const atm = spawn('flock', ['-x', lock, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  atm.stdin.write('.');
  await once(atm.stdout, 'data');
  const writing = replaceShared(path, add('ours'), options);
  const waits = new RegExp(`-> FLOCK .*:${statSync(lock).ino} `);
  await vi.waitFor(() => expect(readFileSync('/proc/locks', 'utf8')).toMatch(waits), { timeout: 30_000 });
  meanwhile('theirs');
  atm.stdin.end();
  await writing;
  expect(list()).toEqual(['first', 'theirs', 'ours']);
});

test('a lock that is never let go ends in an error that says so, and in nothing written', async () => {
  mkdirSync(`${path}.lock`);
  await expect(replaceShared(path, add('ours'), { ...options, waitMs: 50 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('arch.json.lock is held'),
  });
  expect(list()).toEqual(['first']);
  expect(readdirSync(folder).toSorted()).toEqual(['arch.json', 'arch.json.lock', 'arch.lock']);
});

test('what may not be written any more in the last moment is not', async () => {
  const mayWrite = (): void => {
    throw new Error('the team has gone');
  };
  await expect(replaceShared(path, add('ours'), { ...options, mayWrite })).rejects.toThrow(
    'the team has gone',
  );
  expect(list()).toEqual(['first']);
  expect(readdirSync(folder).toSorted()).toEqual(['arch.json', 'arch.lock']);
});

test('without a flock program the work is done, and it is told', async () => {
  const before = process.env['PATH'];
  const told: string[] = [];
  process.env['PATH'] = folder;
  try {
    await replaceShared(path, add('ours'), { ...options, onNoFlock: () => told.push('no flock') });
  } finally {
    process.env['PATH'] = before;
  }
  expect(list()).toEqual(['first', 'ours']);
  expect(told).toEqual(process.platform === 'linux' ? ['no flock'] : []);
});
