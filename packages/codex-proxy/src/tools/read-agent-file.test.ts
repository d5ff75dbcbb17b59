import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { readAgentFile } from './read-agent-file.ts';

let root: string;
let repo: string;
let secret: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'agent-file-')));
  repo = join(root, 'repo');
  secret = join(root, 'secret');
  for (const folder of [join(repo, 'agents'), secret]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(repo, 'agents', 'dev.md'), 'fine');
  writeFileSync(join(secret, 'dev.md'), 'SECRET');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a link counts by where it leads', async () => {
  symlinkSync('agents/dev.md', join(repo, 'inside.md'));
  symlinkSync(join(secret, 'dev.md'), join(repo, 'outside.md'));
  expect(await readAgentFile('inside.md', repo, [repo])).toMatchObject({ text: 'fine', name: 'dev' });
  await expect(readAgentFile('outside.md', repo, [repo])).rejects.toMatchObject({ code: -32_008 });
});

test('a folder that becomes a link after its way was looked up is refused by what was opened', async () => {
  class SwappedMeanwhile extends Array<string> {
    // The way to the file is known by now, and the file not open yet.
    override map<T>(each: (folder: string, index: number, all: string[]) => T): T[] {
      renameSync(join(repo, 'agents'), join(repo, 'moved'));
      symlinkSync(secret, join(repo, 'agents'));
      return [...this].map(each);
    }
  }
  await expect(readAgentFile('agents/dev.md', repo, SwappedMeanwhile.of(repo))).rejects.toMatchObject({
    code: -32_008,
    message: expect.stringContaining('lies outside') as string,
  });
});

test('a folder that is swapped for a link again and again leaks nothing', { timeout: 60_000 }, async () => {
  const script = fileURLToPath(new URL('swap-folder.mjs', import.meta.url));
  const swapper = spawn(process.execPath, [script, join(repo, 'agents'), secret], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const seen = { fine: 0, refused: 0, leaked: 0 };
  try {
    await once(swapper, 'spawn');
    for (const end = Date.now() + 1_500; Date.now() < end || seen.fine < 20;) {
      const text = await readAgentFile('agents/dev.md', repo, [repo]).then(
        (file) => file.text,
        () => 'refused',
      );
      seen[text === 'SECRET' ? 'leaked' : text === 'fine' ? 'fine' : 'refused'] += 1;
    }
  } finally {
    swapper.stdin.end();
    await once(swapper, 'exit');
  }
  expect(seen.leaked).toBe(0);
});
