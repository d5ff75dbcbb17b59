import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { native, useTeams } from './test-team.ts';

const { teams, inboxPath, makeTeam, open, write } = useTeams();

/** Watches one inbox and waits for the next call. */
function watchArch(pollMs: number) {
  const calls: number[] = [];
  const watch = open('red', { pollMs }).watch('arch', () => calls.push(Date.now()));
  return {
    watch,
    calls,
    next: (count: number) =>
      vi.waitFor(() => expect(calls.length).toBeGreaterThanOrEqual(count), { timeout: 60_000, interval: 10 }),
  };
}

test('a change is told at once, long before the next poll', async () => {
  makeTeam('red', 'arch', 'bob');
  const { calls, next } = watchArch(3_600_000);
  await open('red').send('bob', { to: 'arch', message: 'one' });
  await next(1);
  const temporary = `${inboxPath('red', 'arch')}.tmp`;
  writeFileSync(temporary, JSON.stringify([native('bob', 'two')]));
  renameSync(temporary, inboxPath('red', 'arch'));
  await next(2);
  const before = calls.length;
  await open('red').send('arch', { to: 'bob', message: 'not for arch' });
  expect(calls.length).toBe(before);
});

test(
  '[FR-8.2] polling finds what no event tells: a team that comes later, or comes back',
  { timeout: 70_000 },
  async () => {
    const { calls, next } = watchArch(20);
    makeTeam('red', 'arch');
    write('red', 'arch', [native('bob', 'one')]);
    await next(1);
    rmSync(join(teams(), 'red'), { recursive: true });
    await next(2);
    const count = calls.length;
    mkdirSync(dirname(inboxPath('red', 'arch')), { recursive: true });
    write('red', 'arch', [native('bob', 'two')]);
    await next(count + 1);
  },
);

test('a closed watch is silent', async () => {
  makeTeam('red', 'arch');
  const closed = watchArch(5);
  const other = watchArch(5);
  closed.watch.close();
  write('red', 'arch', [native('bob', 'one')]);
  await other.next(1);
  expect(closed.calls).toEqual([]);
});
