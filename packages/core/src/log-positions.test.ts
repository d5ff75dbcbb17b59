import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createFeed, type Feed } from './feed.ts';
import { OWN_WORKSPACE } from './hub-caller.ts';
import { createLogFollower, eachEntry, type LogFollower } from './log-follower.ts';
import { createLogPositions } from './log-positions.ts';
import { createLog, type Log, WORKSPACES } from './log.ts';
import type { Store } from './store.ts';
import { openMemoryStore } from './store-memory.ts';
import { callerOf, creating, posting } from './store-contract/scene.ts';

const clock = { now: () => Date.now(), monotonic: () => performance.now(), trusted: () => Date.now() };
const chance = { below: () => 0, bytes: (count: number) => new Uint8Array(count) };
const LONG = 10_000;
let store: Store;
let feed: Feed;
let log: Log;
let seen: string[];
let follower: LogFollower;
let isIdle: boolean;

beforeEach(() => {
  store = openMemoryStore();
  feed = createFeed();
  log = createLog(store, feed);
  seen = [];
  isIdle = false;
});
afterEach(() => follower.close());

function open(look?: (body: string) => Promise<void>): LogFollower {
  const onFault = (error: unknown): void => {
    throw error;
  };
  return createLogFollower(
    { store, clock, feed, onFault },
    {
      topics: WORKSPACES,
      positions: createLogPositions({ store, clock, chance }, 'test'),
      async passedBy(watch, signal) {
        if (isIdle) await watch.next(signal);
        return isIdle;
      },
      take: eachEntry(async ({ body }, workspaceId, signal) => {
        seen.push(`${workspaceId} ${body}`);
        await look?.(body);
        return !signal.aborted;
      }),
    },
  );
}

async function say(workspace: string, ...bodies: string[]): Promise<void> {
  const ann = callerOf('ann', workspace);
  const thread = `t-${workspace}`;
  if ((await store.position(workspace)) === 0) await log.append(creating(thread, ann));
  for (const body of bodies) await log.append(posting(thread, body, ann));
}

const places = async (): Promise<Record<string, number>> => {
  const kept = await store.records({ kind: 'follower', workspace_id: OWN_WORKSPACE, limit: 100 });
  return Object.fromEntries(kept.map(({ workspace_id, pos }) => [workspace_id, pos]));
};

test('[R6] it begins now where it has never looked, goes on in each workspace where it stopped, and sees a new one from its first entry', async () => {
  await say('a', 'old');
  follower = open();
  await follower.start();
  expect(await places()).toEqual({ [OWN_WORKSPACE]: 0, a: 2 });
  await say('a', '1');
  await say('b', '1');
  await vi.waitFor(() => expect(seen).toEqual(['a 1', 'b t-b', 'b 1']), LONG);
  await follower.close();
  expect(await places()).toEqual({ [OWN_WORKSPACE]: 0, a: 3, b: 2 });
  await say('c', '1');
  await say('a', '2');
  seen = [];
  follower = open();
  await follower.start();
  await vi.waitFor(() => expect(seen.toSorted()).toEqual(['a 2', 'c 1', 'c t-c']), LONG);
});

test('[R10] a workspace with much to look at does not keep another waiting for more than a page', async () => {
  follower = open();
  await follower.start();
  await follower.close();
  await say('a', ...Array.from({ length: 2_000 }, (_, i) => `${i}`));
  await say('b', 'short');
  seen = [];
  follower = open();
  await follower.start();
  await vi.waitFor(() => expect(seen).toHaveLength(2_003), LONG);
  expect(seen.indexOf('b short')).toBeLessThan(1_100);
  expect(seen.filter((one) => one.startsWith('a ')).slice(1)).toEqual(
    Array.from({ length: 2_000 }, (_, i) => `a ${i}`),
  );
});

test('what happens while nobody wants it to look goes by, in every workspace', async () => {
  isIdle = true;
  follower = open();
  await follower.start();
  await say('a', '1', '2');
  await say('b', '1');
  isIdle = false;
  await say('b', '2');
  await vi.waitFor(() => expect(seen.at(-1)).toBe('b 2'), LONG);
  expect(seen.filter((one) => one.startsWith('a '))).toEqual([]);
});
