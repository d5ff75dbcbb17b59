import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { openLogOutput } from './log-output.ts';

let folder: string;
let pipe: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-'));
  spawnSync('mkfifo', [join(folder, 'pipe')]);
  pipe = openSync(join(folder, 'pipe'), constants.O_RDWR | constants.O_NONBLOCK);
});
afterEach(() => {
  closeSync(pipe);
  rmSync(folder, { recursive: true, force: true });
});

/** Reads until a line comes that says this. */
async function readUntil(wanted: string): Promise<string[]> {
  let text = '';
  const piece = Buffer.alloc(65_536);
  while (!text.includes(wanted) || !text.endsWith('\n')) {
    try {
      text += piece.toString('utf8', 0, readSync(pipe, piece));
    } catch {
      await sleep(20);
    }
  }
  return text.trimEnd().split('\n');
}

test('while nobody reads, a bounded part waits; afterwards it comes whole and in order, with what was dropped', async () => {
  const output = openLogOutput(pipe);
  const line = (n: number): string => `${n} ${'x'.repeat(999)}\n`;
  for (let n = 0; n < 10_000; n++) output.write(line(n));
  const reported = await readUntil('were dropped');
  const numbers = reported.slice(0, -1).map((text) => Number(text.split(' ')[0]));
  expect(numbers).toEqual(numbers.map((_, i) => i));
  expect(numbers.length).toBeGreaterThan(3_000);
  expect(numbers.length).toBeLessThan(5_000);
  const { level, chars } = JSON.parse(reported.at(-1) ?? '') as { level: string; chars: number };
  const kept = numbers.reduce((sum, n) => sum + line(n).length, 0);
  const all = Array.from({ length: 10_000 }, (_, n) => line(n).length).reduce((sum, size) => sum + size, 0);
  expect([level, chars]).toEqual(['warn', all - kept]);
  output.write('and on\n');
  expect(await readUntil('and on')).toEqual(['and on']);
});
