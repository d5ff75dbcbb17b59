import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { isFileLocked, lockFile } from './lock-file.ts';

let folder: string;
let path: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-file-'));
  path = join(folder, 'arch.lock');
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** A process that lives as long as the test, or is over. */
async function processId(how: 'alive' | 'over'): Promise<number> {
  const child = spawn('sleep', [how === 'alive' ? '60' : '0']);
  children.push(child);
  await once(child, how === 'alive' ? 'spawn' : 'exit');
  return child.pid ?? 0;
}

test('a lock is held until it is given back, also when nobody holds on to it', async () => {
  const module = new URL('lock-file.ts', import.meta.url).href;
  const source = `const { lockFile } = await import(${JSON.stringify(module)});
    lockFile(${JSON.stringify(path)}, 0);
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
    console.log('locked');
    setInterval(() => {}, 1000);`;
  const args = ['--expose-gc', '--import', 'tsx', '--input-type=module', '-e', source];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(createInterface(child.stdout), 'line');
  expect(isFileLocked(path)).toBe(true);
});

describe('a lock file that another program wrote', () => {
  test.each([
    ['a number', (pid: number) => `${pid}`],
    ['a line', (pid: number) => `${pid}\nsome-host\n`],
    ['JSON', (pid: number) => JSON.stringify({ identity: 'arch', pid, agent_id: 'x' })],
  ])('holds while the process lives that it names, and no longer: %s', async (_form, write) => {
    writeFileSync(path, write(await processId('alive')));
    expect(isFileLocked(path)).toBe(true);
    expect(() => lockFile(path, 0)).toThrow(/held by process \d+/);
    expect(readFileSync(path, 'utf8')).not.toBe('');
    writeFileSync(path, write(await processId('over')));
    expect(isFileLocked(path)).toBe(false);
    lockFile(path, 0).release();
    expect(readdirSync(folder)).toEqual(['arch.lock']);
  });

  test('[R9] of a process whose number has gone to another counts for nothing', async () => {
    writeFileSync(path, `${await processId('alive')}`);
    utimesSync(path, new Date(), new Date(Date.now() - 3_600_000));
    lockFile(path, 0).release();
    writeFileSync(path, `${process.pid}`);
    lockFile(path, 0).release();
  });

  test.each(['no lock at all\n', '2026-01-01 remember the milk', '\0\0\u0001', 'x'.repeat(100_000)])(
    'is kept beside when it names nobody',
    (text) => {
      writeFileSync(path, text);
      expect(isFileLocked(path)).toBe(false);
      const lock = lockFile(path, 0);
      const [aside = ''] = readdirSync(folder).filter((name) => name.endsWith('.aside'));
      expect(readFileSync(join(folder, aside), 'utf8')).toBe(text);
      expect(() => lockFile(path, 0)).toThrow(/another process/);
      lock.release();
    },
  );

  test('written over a lock of ours does not break it', () => {
    const lock = lockFile(path, 0);
    writeFileSync(path, '999999999');
    expect(() => lockFile(path, 0)).toThrow(/another process/);
    expect(isFileLocked(path)).toBe(true);
    lock.release();
  });

  test(
    '[R9] of four processes that find it at once exactly one gets the lock',
    { timeout: 60_000 },
    async () => {
      const gone = await processId('over');
      const paths = Array.from({ length: 40 }, (_, n) => join(folder, `${n}.lock`));
      for (const [n, one] of paths.entries()) writeFileSync(one, n % 2 === 0 ? `${gone}` : 'garbage');
      const script = fileURLToPath(new URL('race-for-locks.mjs', import.meta.url));
      const start = join(folder, 'go');
      const racers = Array.from({ length: 4 }, () => {
        const child = spawn(process.execPath, ['--import', 'tsx', script, start, ...paths], {
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        children.push(child);
        return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      });
      for (const lines of racers) expect((await lines.next()).value).toBe('ready');
      writeFileSync(start, '');
      const reported = await Promise.all(
        racers.map(async (lines) => JSON.parse(String((await lines.next()).value)) as string[]),
      );
      for (const n of paths.keys())
        expect(reported.map((outcomes) => outcomes[n] ?? '').toSorted()).toEqual([
          ...Array<string>(3).fill('CONFLICT'),
          'held',
        ]);
    },
  );
});

test('what cannot be a lock is refused in plain words, and nothing is made behind a link', () => {
  const elsewhere = join(folder, 'elsewhere');
  symlinkSync(elsewhere, path);
  expect(() => lockFile(path, 0)).toThrow(/is a link and cannot be a lock; remove it/);
  expect(existsSync(elsewhere)).toBe(false);
  rmSync(path);
  mkdirSync(path);
  expect(() => lockFile(path, 0)).toThrow(/is no plain file/);
  rmSync(path, { recursive: true });
  writeFileSync(path, 'x'.repeat(2_000_000));
  expect(() => lockFile(path, 0)).toThrow(/too large for a lock; move it away/);
});
