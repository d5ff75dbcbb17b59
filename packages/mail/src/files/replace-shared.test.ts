import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  fstatSync,
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
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

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

test.each([
  ['', false],
  [', and sets its time back', true],
])(
  '[FR-20.2] nothing is lost to a writer that changes as many bytes as there were%s',
  async (_how, setsBack) => {
    const time = new Date('2030-01-01T00:00:00Z');
    utimesSync(path, time, time);
    const { ino, size } = statSync(path);
    // The kernel counts the time of a change in ticks of a few milliseconds.
    await sleep(20);
    let runs = 0;
    await replaceShared(
      path,
      (value) => {
        if (runs++ === 0) {
          writeFileSync(path, '["other"]');
          if (setsBack) utimesSync(path, time, time);
          expect(statSync(path)).toMatchObject({ ino, size });
        }
        return add('ours')(value);
      },
      options,
    );
    expect(list()).toEqual(['other', 'ours']);
    expect(runs).toBe(2);
  },
);

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

test.each([3, 8])(
  "[FR-20.2] Claude Code's lock is its holder's also when that has not touched it for %i seconds",
  async (seconds) => {
    mkdirSync(`${path}.lock`);
    const touched = new Date(Date.now() - seconds * 1_000);
    utimesSync(`${path}.lock`, touched, touched);
    await expect(replaceShared(path, add('ours'), { ...options, waitMs: 50 })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(list()).toEqual(['first']);
    expect(existsSync(`${path}.lock`)).toBe(true);
  },
);

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

test('[R1] the new file is synced before it is put in place, and its name before it counts as written', async () => {
  const handle = await open(folder, 'r');
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = Reflect.get(handles, 'sync');
  const before = statSync(path).ino;
  const synced: { ino: number; isInPlace: boolean }[] = [];
  const spy = vi.spyOn(handles, 'sync').mockImplementation(function (this: FileHandle) {
    synced.push({ ino: fstatSync(this.fd).ino, isInPlace: statSync(path).ino !== before });
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  await replaceShared(path, add('second'), options);
  expect(synced).toEqual([
    { ino: statSync(path).ino, isInPlace: false },
    { ino: statSync(folder).ino, isInPlace: true },
  ]);
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
  const reported: string[] = [];
  process.env['PATH'] = folder;
  try {
    await replaceShared(path, add('ours'), { ...options, onNoFlock: () => reported.push('no flock') });
  } finally {
    process.env['PATH'] = before;
  }
  expect(list()).toEqual(['first', 'ours']);
  expect(reported).toEqual(process.platform === 'linux' ? ['no flock'] : []);
});
