import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { awaitCodexThread } from './own-thread.ts';

const ids = ['01a1e6b4-20c8-76c3-a57c-abe436b56291', '01a1e6b4-2abc-73f1-88c8-6c4344709092'] as const;
const startedAt = Date.parse('2030-01-01T12:00:00Z');

async function homeWith(openedBefore: Record<string, number>): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'codex-home-'));
  onTestFinished(() => rm(home, { recursive: true }));
  await mkdir(path.join(home, 'thread-writer-locks'));
  for (const [name, ms] of Object.entries(openedBefore)) {
    const file = path.join(home, 'thread-writer-locks', name);
    await writeFile(file, '');
    await utimes(file, (startedAt - ms) / 1_000, (startedAt - ms) / 1_000);
  }
  return home;
}

const find = (home: string, named: () => string | undefined = () => undefined) =>
  awaitCodexThread(home, { startedAt, withinMs: 0, named });

test('a process belongs to the thread that Codex opened last before it, unless a call has named another', async () => {
  const home = await homeWith({
    '.coordination.lock': 5,
    [`${ids[0]}.lock`]: 120,
    [`${ids[1]}.lock`]: 4_000,
  });
  expect(await find(home)).toBe(ids[0]);
  expect(await find(home, () => ids[1])).toBe(ids[1]);
});

test('a thread that was opened long before, or long after, is somebody else’s', async () => {
  expect(
    await find(await homeWith({ [`${ids[0]}.lock`]: 60_000, [`${ids[1]}.lock`]: -60_000 })),
  ).toBeUndefined();
  expect(await find('/nowhere')).toBeUndefined();
});
