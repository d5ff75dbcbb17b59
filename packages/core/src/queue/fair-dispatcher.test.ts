import { expect, onTestFinished, test, vi } from 'vitest';

import { createFairDispatcher } from './fair-dispatcher.ts';

/** A dispatcher whose work ends when the test says so. */
function open(limits: { perWorkspace: number; atOnce: number }) {
  const dispatcher = createFairDispatcher(limits);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  dispatcher.start(({ workspace_id }) => {
    begun.push(workspace_id);
    return new Promise<void>((resolve) => ends.push(resolve));
  });
  const put = (workspace_id: string, count: number): void => {
    for (let n = 0; n < count; n++) dispatcher.put({ workspace_id, delivery_id: `${workspace_id} ${n}` }, 0);
  };
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { dispatcher, begun, put, endOne, running: () => ends.length };
}

test('[KNOW-3] more workspaces than places are served in turn: none waits for the long line of another', async () => {
  const { begun, put, endOne, running, dispatcher } = open({ perWorkspace: 2, atOnce: 3 });
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  put('a', 20);
  for (const name of names.slice(1)) put(name, 2);
  expect(begun).toEqual(['a', 'a', 'b']);
  while (running() > 0) {
    expect(running()).toBeLessThanOrEqual(3);
    await endOne();
  }
  expect(begun).toHaveLength(20 + 2 * 6);
  expect(begun.slice(3, 17).join(' ')).toBe('a b c d e f g a c d e f g a');
  expect(begun.slice(17).every((name) => name === 'a')).toBe(true);
  await dispatcher.close();
});

test('[KNOW-3] one workspace never takes more than its share of the places', async () => {
  const { begun, put, endOne, running, dispatcher } = open({ perWorkspace: 2, atOnce: 8 });
  put('a', 10);
  expect(running()).toBe(2);
  put('b', 10);
  expect(begun).toEqual(['a', 'a', 'b', 'b']);
  while (running() > 0) await endOne();
  expect(dispatcher.waiting('a')).toBe(0);
  await dispatcher.close();
});

test('[KNOW-3] what waits out a failure is in line, and comes when its time is over', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { begun, dispatcher } = open({ perWorkspace: 2, atOnce: 8 });
  dispatcher.put({ workspace_id: 'a', delivery_id: '1' }, 1_000);
  // Longer than a timer of the system takes.
  dispatcher.put({ workspace_id: 'b', delivery_id: '2' }, 3_000_000_000);
  expect([dispatcher.waiting('a'), dispatcher.waiting('b'), dispatcher.waiting('c')]).toEqual([1, 1, 0]);
  vi.advanceTimersByTime(999);
  expect(begun).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(begun).toEqual(['a']);
  expect(dispatcher.waiting('a')).toBe(1);
});

test('[KNOW-3] what waits out a failure is not forgotten with what ends meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { begun, put, endOne, dispatcher } = open({ perWorkspace: 2, atOnce: 8 });
  put('a', 2);
  dispatcher.put({ workspace_id: 'a', delivery_id: 'later' }, 1_000);
  await endOne();
  expect(dispatcher.waiting('a')).toBe(2);
  vi.advanceTimersByTime(1_000);
  expect(begun).toEqual(['a', 'a', 'a']);
});

test('[KNOW-3] a workspace that is told to rest begins again with the same one, when all its rests are over', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const dispatcher = createFairDispatcher({ perWorkspace: 8, atOnce: 8 });
  const begun: string[] = [];
  dispatcher.hold({ workspace_id: 'a', delivery_id: 'held' }, 1_000);
  dispatcher.hold({ workspace_id: 'a', delivery_id: 'held later' }, 2_000);
  dispatcher.put({ workspace_id: 'a', delivery_id: 'next' }, 0);
  dispatcher.put({ workspace_id: 'b', delivery_id: 'other' }, 0);
  expect([dispatcher.waiting('a'), begun]).toEqual([3, []]);
  dispatcher.start(async ({ delivery_id }) => void begun.push(delivery_id));
  expect(begun).toEqual(['other']);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(begun).toEqual(['other']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['other', 'held later', 'held', 'next']);
  expect(dispatcher.waiting('a')).toBe(0);
});

test('a dispatcher that closes waits for what runs, and begins nothing more', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const dispatcher = createFairDispatcher({ perWorkspace: 1, atOnce: 8 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  dispatcher.start(({ delivery_id }) => {
    begun.push(delivery_id);
    return new Promise((resolve) => ends.push(resolve));
  });
  const due = (delivery_id: string, workspace_id = 'a') => ({ workspace_id, delivery_id });
  for (const one of [due('1'), due('2'), due('x', 'b')]) dispatcher.put(one, 0);
  dispatcher.put(due('3'), 10);
  dispatcher.hold(due('4', 'c'), 10);
  const closed = vi.fn();
  void dispatcher.close().then(closed);
  dispatcher.put(due('5', 'd'), 0);
  dispatcher.hold(due('6', 'd'), 0);
  expect([dispatcher.waiting('d'), vi.getTimerCount()]).toEqual([0, 0]);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(20);
  expect(closed).not.toHaveBeenCalled();
  ends[1]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(closed).toHaveBeenCalledOnce();
  expect(begun).toEqual(['1', 'x']);
  await createFairDispatcher({ perWorkspace: 1, atOnce: 1 }).close();
});
