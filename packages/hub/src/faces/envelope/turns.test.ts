import { expect, test } from 'vitest';

import { createTurns } from './turns.ts';

test('[C-ENV-22] so many run, so many wait in line, and the next is refused at once', async () => {
  const inTurn = createTurns({ concurrent: 2, waiting: 1, waitMs: 60_000 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string) =>
    inTurn('action', async () => {
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
  const first = inTurn('x', () => new Promise<void>((resolve) => (end = resolve)));
  await expect(inTurn('x', async () => {})).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  end();
  await first;
});
