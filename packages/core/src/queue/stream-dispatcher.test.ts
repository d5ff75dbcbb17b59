import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { DueDelivery } from './dispatcher.ts';
import { createFairDispatcher } from './fair-dispatcher.ts';
import { createSampleDueStream } from './sample-due-stream.ts';
import { createStreamDispatcher } from './stream-dispatcher.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const dueOf = (delivery_id: string): DueDelivery => ({ workspace_id: 'a', delivery_id });

function open(sample = createSampleDueStream()) {
  const worked: string[] = [];
  const elsewhere: string[] = [];
  const lines = createFairDispatcher({ perWorkspace: 4, atOnce: 16 });
  const dispatcher = createStreamDispatcher(sample.stream, lines, ({ delivery_id }) =>
    elsewhere.push(delivery_id),
  );
  return { sample, worked, elsewhere, dispatcher };
}

test('[KNOW-3] what one node puts in another is brought, and done it does not come again', async () => {
  const sample = createSampleDueStream();
  const [writer, owner] = [open(sample), open(sample)];
  writer.dispatcher.put(dueOf('one'), 0);
  owner.dispatcher.start(async ({ delivery_id }) => void owner.worked.push(delivery_id));
  await vi.advanceTimersByTimeAsync(60_000);
  expect([owner.worked, writer.worked, sample.waiting]).toEqual([['one'], [], 0]);
});

test('[KNOW-3] what is to be tried again comes again after its wait, and not before', async () => {
  const { dispatcher, sample } = open();
  const at: number[] = [];
  const begun = Date.now();
  dispatcher.start(async (due) => {
    at.push(Date.now() - begun);
    if (at.length < 3) dispatcher.put(due, 5_000 * at.length);
  });
  dispatcher.put(dueOf('one'), 0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([at, sample.waiting]).toEqual([[0, 5_000, 15_000], 0]);
});

test('[C-ASYNC-02] what is worked on for long, or waits for its turn, is in hand and not brought again', async () => {
  const { dispatcher, sample } = open();
  let free = (): void => {};
  dispatcher.start(() => new Promise<void>((resolve) => (free = resolve)));
  dispatcher.put(dueOf('slow'), 0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sample.brought).toBe(1);
  free();
  await vi.advanceTimersByTimeAsync(1);
  expect(sample.waiting).toBe(0);
});

test('[C-ASYNC-02] what a node that is gone had in hand comes again', async () => {
  const sample = createSampleDueStream();
  const first = open(sample);
  first.dispatcher.start(() => new Promise(() => {}));
  first.dispatcher.put(dueOf('one'), 0);
  await vi.advanceTimersByTimeAsync(1);
  // It says nothing any more.
  vi.clearAllTimers();
  const second = open(sample);
  second.dispatcher.start(async ({ delivery_id }) => void second.worked.push(delivery_id));
  await vi.advanceTimersByTimeAsync(10_000);
  expect([second.worked, sample.waiting]).toEqual([['one'], 0]);
});

test('what was found in the store is not worked on twice at once when the stream brings it too', async () => {
  const { dispatcher, sample, worked } = open();
  let free = (): void => {};
  dispatcher.start(async ({ delivery_id }) => {
    worked.push(delivery_id);
    await new Promise<void>((resolve) => (free = resolve));
  });
  dispatcher.resume(dueOf('one'), 0);
  dispatcher.put(dueOf('one'), 0);
  dispatcher.resume(dueOf('one'), 0);
  await vi.advanceTimersByTimeAsync(1);
  // Put in by its own worker's node it is a word for after this attempt.
  expect(worked).toEqual(['one']);
  free();
  await vi.advanceTimersByTimeAsync(1);
  free();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sample.waiting).toBe(0);
});

test('a used-up quota lets the line rest, and what was held is done in the end', async () => {
  const { dispatcher, sample, worked } = open();
  dispatcher.start(async (due) => {
    worked.push(due.delivery_id);
    if (worked.length === 1) dispatcher.hold(due, 3_000);
  });
  dispatcher.put(dueOf('one'), 0);
  await vi.advanceTimersByTimeAsync(2_900);
  expect(worked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([worked, sample.waiting]).toEqual([['one', 'one'], 0]);
});

test('[R8] a stream that does not take a word says so, and somebody else hears of it', async () => {
  const { dispatcher, sample, elsewhere } = open();
  sample.state.isShut = true;
  dispatcher.put(dueOf('one'), 0);
  await vi.advanceTimersByTimeAsync(1);
  expect(elsewhere).toEqual(['one']);
});
