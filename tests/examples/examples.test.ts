import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const examples = readdirSync(`${root}examples`).filter((name) => name.endsWith('.ts'));

test('there are examples', () => {
  expect(examples).toContain('review-loop.ts');
});

test.each(examples)('examples/%s runs and finds what it expects', async (name) => {
  const args = ['--import', 'tsx', `examples/${name}`];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 50_000 });
  expect(stdout).not.toBe('');
});
