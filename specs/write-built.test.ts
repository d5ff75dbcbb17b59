import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { namesIn, writeBuilt } from '../scripts/write-built.mjs';

const folder = (): string => mkdtempSync(join(tmpdir(), 'parley-built-'));
const filesOf = (of: Record<string, string>): Map<string, Buffer> =>
  new Map(Object.entries(of).map(([name, text]) => [name, Buffer.from(text)]));

test('a build that changes nothing touches nothing', () => {
  const out = folder();
  writeBuilt(out, filesOf({ 'a.mjs': 'one', 'in/b.mjs': 'two' }));
  const before = statSync(join(out, 'in/b.mjs')).mtimeMs;
  writeBuilt(out, filesOf({ 'a.mjs': 'other', 'in/b.mjs': 'two' }));
  expect(statSync(join(out, 'in/b.mjs')).mtimeMs).toBe(before);
  expect(readFileSync(join(out, 'a.mjs'), 'utf8')).toBe('other');
});

test('what no build has any more goes, and what others put there stays', () => {
  const out = folder();
  writeBuilt(out, filesOf({ 'a.mjs': 'one', 'chunk-1.mjs': 'old' }));
  writeFileSync(join(out, 'notes.txt'), 'of somebody else');
  writeBuilt(out, filesOf({ 'a.mjs': 'one', 'chunk-2.mjs': 'new' }), (name) => name === 'notes.txt');
  expect(namesIn(out).toSorted()).toEqual(['a.mjs', 'chunk-2.mjs', 'notes.txt']);
});

test('whoever reads while a build is written finds a whole file, the old one or the new one', async () => {
  const out = folder();
  const texts = ['a', 'b'].map((letter) => letter.repeat(3_000_000));
  writeBuilt(out, filesOf({ 'main.mjs': texts[0] ?? '' }));
  const reader = spawn(process.execPath, ['-e', READER, join(out, 'main.mjs')], { stdio: 'pipe' });
  const said: string[] = [];
  reader.stdout.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  await expect.poll(() => said.join('')).toContain('reading');
  for (let i = 1; i <= 60; i++) writeBuilt(out, filesOf({ 'main.mjs': texts[i % 2] ?? '' }));
  reader.stdin.end();
  await new Promise((resolve) => reader.once('close', resolve));
  expect(said.join('')).toMatch(/^reading\nwhole [1-9]\d*\n$/);
}, 60_000);

/** Reads one file again and again until its standard input ends, and says what was wrong with it. */
const READER = `
const { readFileSync } = require('node:fs');
let go = true;
let whole = 0;
process.stdin.on('end', () => { go = false; }).resume();
console.log('reading');
(function again() {
  if (!go) return void console.log('whole', whole);
  try {
    const text = readFileSync(process.argv[1], 'latin1');
    if (text.length === 3e6 && (text.endsWith(text.at(0)))) whole++;
    else console.log('torn', text.length);
  } catch (error) { console.log(error.code); }
  setImmediate(again);
})();`;
