import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createFeed, type Feed } from './feed.ts';
import { type FeedPoll, startFeedPoll } from './feed-poll.ts';
import { createLog, type Log } from './log.ts';
import { callerOf, creating, posting } from './store-contract/scene.ts';
import type { Store } from './store.ts';
import { openMemoryStore } from './store-memory.ts';

const clock = { monotonic: () => performance.now() };
const LONG = 10_000;
const ann = callerOf('ann', 'w');
const ending = new AbortController();
let store: Store;
let feed: Feed;
let log: Log;
/** The log as another process has it: its rings do not come here. */
let elsewhere: Log;
let poll: FeedPoll;
let faults: string[];

beforeEach(async () => {
  store = openMemoryStore();
  feed = createFeed();
  faults = [];
  elsewhere = createLog(store, createFeed());
  for (const thread of ['t1', 't2']) await elsewhere.append(creating(thread, ann));
  poll = startFeedPoll({ store, feed, clock, everyMs: 20, onFault: (error) => faults.push(String(error)) });
  log = createLog(store, feed, (_command, { reached = [] }) => poll.heard(reached));
  await settled();
});
afterEach(() => poll.close());

/** Waits for the first look, after which it asks for nothing but the size. */
async function settled(): Promise<void> {
  const heads = vi.spyOn(store, 'heads');
  const size = vi.spyOn(store, 'size');
  await vi.waitFor(() => {
    expect(heads).toHaveBeenCalled();
    expect(size.mock.calls.length).toBeGreaterThan(1);
  }, LONG);
  heads.mockClear();
  size.mockClear();
}

/** What somebody who follows a thread is given. */
function follow(thread: string): string[] {
  const seen: string[] = [];
  void (async () => {
    for await (const entries of log.follow(ann, thread, 0, ending.signal))
      seen.push(...entries.map(({ body }) => body));
  })();
  return seen;
}

test('[R6] a ring that is lost is made up for, also when the next one of the workspace is heard', async () => {
  const seen = follow('t1');
  await elsewhere.append(posting('t1', 'lost', ann));
  await log.append(posting('t2', 'heard', ann));
  await vi.waitFor(() => expect(seen).toEqual(['lost']), LONG);
  await elsewhere.append(posting('t1', 'lost too', ann));
  await vi.waitFor(() => expect(seen).toEqual(['lost', 'lost too']), LONG);
  expect(faults).toEqual([]);
});

test('[R10] what was announced is not read again, and while nothing is written nothing but the size is asked for', async () => {
  const workspace = vi.spyOn(store, 'workspace');
  const size = vi.spyOn(store, 'size');
  const seen = follow('t1');
  for (let i = 0; i < 5; i++) await log.append(posting('t1', `${i}`, ann));
  // One command may write more than one entry.
  await log.append(creating('t3', ann));
  await vi.waitFor(() => expect(seen).toHaveLength(5), LONG);
  await vi.waitFor(() => expect(size.mock.calls.length).toBeGreaterThan(3), LONG);
  const heads = vi.spyOn(store, 'heads');
  heads.mockClear();
  size.mockClear();
  await vi.waitFor(() => expect(size.mock.calls.length).toBeGreaterThan(3), LONG);
  expect(heads).not.toHaveBeenCalled();
  expect(workspace).not.toHaveBeenCalled();
});

test('[R6] a store that cannot be read is told of once and looked at again', async () => {
  const seen = follow('t1');
  const heads = vi.spyOn(store, 'heads').mockRejectedValue(new Error('the disk is away'));
  await elsewhere.append(posting('t1', 'lost', ann));
  await vi.waitFor(() => expect(heads.mock.calls.length).toBeGreaterThan(2), LONG);
  expect(faults).toEqual(['Error: the disk is away']);
  heads.mockRestore();
  await vi.waitFor(() => expect(seen).toEqual(['lost']), LONG);
});

test('[R6] rings of two nodes that cross on their way are no reason to read the log again', async () => {
  const seen = follow('t1');
  const reached = await Promise.all(
    ['first', 'second', 'third'].map(
      async (body) => (await elsewhere.append(posting('t1', body, ann))).reached ?? [],
    ),
  );
  const workspace = vi.spyOn(store, 'workspace');
  for (const steps of reached.toReversed()) {
    poll.heard(steps);
    for (const { last_seq } of steps) feed.announce('t1', last_seq);
  }
  await vi.waitFor(() => expect(seen).toEqual(['first', 'second', 'third']), LONG);
  await settled();
  expect(workspace).not.toHaveBeenCalled();
});
