import { array, assert, constantFrom, integer, property, tuple } from 'fast-check';
import { expect, test } from 'vitest';

import { FairQueue } from './fair-queue.ts';

test('[R10] one line cannot fill what is taken: the others come in turn', () => {
  const queue = new FairQueue<number>();
  for (let i = 0; i < 100; i++) queue.push('busy', i);
  queue.push('quiet', 1);
  queue.push('other', 1);
  expect(queue.take(4).map(({ line }) => line)).toEqual(['busy', 'quiet', 'other', 'busy']);
  expect(queue.size).toBe(98);
});

test('what is given back comes first again', () => {
  const queue = new FairQueue<number>();
  for (let i = 0; i < 5; i++) queue.push('a', i);
  const taken = queue.take(4);
  queue.giveBack(taken.slice(1));
  expect(queue.take(9).map(({ item }) => item)).toEqual([1, 2, 3, 4]);
  expect(queue.size).toBe(0);
});

test('whatever comes and goes, each line keeps its order and nothing is lost or given twice', () => {
  const steps = array(
    tuple(constantFrom('a', 'b', 'c'), integer({ min: 0, max: 6 }), integer({ min: 0, max: 3 })),
  );
  assert(
    property(steps, (run) => {
      const queue = new FairQueue<number>();
      const pushed: Record<string, number[]> = { a: [], b: [], c: [] };
      const done: Record<string, number[]> = { a: [], b: [], c: [] };
      const finish = (taken: ReturnType<typeof queue.take>, back: number): void => {
        const kept = taken.slice(0, Math.max(0, taken.length - back));
        for (const { line, item } of kept) done[line]?.push(item);
        queue.giveBack(taken.slice(kept.length));
      };
      for (const [n, [line, take, back]] of run.entries()) {
        queue.push(line, n);
        pushed[line]?.push(n);
        finish(queue.take(take), back);
      }
      finish(queue.take(1_000), 0);
      expect(done).toEqual(pushed);
      expect(queue.size).toBe(0);
    }),
  );
});

test('[R10] a line whose every item takes a whole turn holds up none: each is next in time', () => {
  const queue = new FairQueue<number>();
  for (let i = 0; i < 100; i++) queue.push('busy', i);
  const done: string[] = [];
  /** As the writer does where one command takes all the time of a batch. */
  const takeOne = (): void => {
    const [first, ...rest] = queue.take(256);
    done.push(first?.line ?? '');
    queue.giveBack(rest);
  };
  takeOne();
  queue.push('quiet', 1);
  queue.push('other', 1);
  for (let i = 0; i < 4; i++) takeOne();
  expect(done).toEqual(['busy', 'busy', 'quiet', 'other', 'busy']);
  expect(queue.size).toBe(97);
});
