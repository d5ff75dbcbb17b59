import { expect, test } from 'vitest';

import { createTurns } from './turns.ts';

test('[C-ENV-22] so many run, so many wait in line, and the next is refused at once', async () => {
  const inTurn = createTurns({ concurrent: 2, waiting: 1, waitMs: 60_000 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string) =>
    inTurn('action', 'alice', async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  const [a, b, c] = [run('a'), run('b'), run('c')];
  await expect(run('d')).rejects.toMatchObject({ details: { retry_after_ms: 1_000 } });
  expect(begun).toEqual(['a', 'b']);
  ends.get('a')?.();
  await expect(a).resolves.toBe('a');
  await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
  ends.get('b')?.();
  ends.get('c')?.();
  await Promise.all([b, c]);
  const e = run('e');
  await expect.poll(() => begun).toContain('e');
  ends.get('e')?.();
  await e;
});

test('[C-ENV-22] nobody waits longer than the bound', async () => {
  const inTurn = createTurns({ concurrent: 1, waiting: 9, waitMs: 1 });
  let end: () => void = () => {};
  const first = inTurn('x', 'a', () => new Promise<void>((resolve) => (end = resolve)));
  await expect(inTurn('x', 'a', async () => {})).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  end();
  await first;
});

test('one sender does not keep another out: a turn goes to the one with the fewest, and so does the last place', async () => {
  const inTurn = createTurns({ concurrent: 2, waiting: 3, waitMs: 60_000 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (by: string, name: string) =>
    inTurn('action', by, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const many = [1, 2, 3, 4, 5].map((n) => run('eager', `e${n}`));
  const [last] = [run('eager', 'e6')];
  await expect(last).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  const other = run('other', 'o1');
  await expect(many[4]).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  ends.get('e1')?.();
  await expect.poll(() => begun).toEqual(['e1', 'e2', 'o1']);
  ends.get('e2')?.();
  await expect.poll(() => begun).toEqual(['e1', 'e2', 'o1', 'e3']);
  ends.get('o1')?.();
  await other;
  ends.get('e3')?.();
  await expect.poll(() => begun).toContain('e4');
  ends.get('e4')?.();
  await Promise.all(many.slice(0, 4));
});
