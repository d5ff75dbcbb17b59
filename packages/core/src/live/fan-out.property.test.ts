import type { Caller, Thread } from '@parley/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Command } from '../commands.ts';
import type { Entry } from '../entry.ts';
import { createFeed } from '../feed.ts';
import { createLog } from '../log.ts';
import { openMemoryStore } from '../store-memory.ts';
import { createFanOut, type Follower } from './fan-out.ts';

const caller: Caller = { agent_id: 'alice', workspace_id: 'w', role: 'orchestrator', session_id: 's' };
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A follower whose buffer holds so many entries until it is emptied. */
function createReader(who: Caller, room: number) {
  let held = 0;
  let waiting: ((open: boolean) => void)[] = [];
  const reader = {
    seqs: [] as number[],
    gaps: 0,
    errors: [] as unknown[],
    empty() {
      held = 0;
      const released = waiting;
      waiting = [];
      for (const resolve of released) resolve(true);
    },
    follower: {
      caller: who,
      deliver({ seq }: Entry) {
        if (held >= room) return false;
        held++;
        reader.seqs.push(seq);
        return true;
      },
      fellBehind: () => void reader.gaps++,
      dropped: (threadId: string, why: unknown) => void reader.errors.push({ threadId, why }),
      drained: () =>
        held < room ? Promise.resolve(true) : new Promise<boolean>((resolve) => waiting.push(resolve)),
    } satisfies Follower,
  };
  return reader;
}

/** A thread whose pages come as late as `delays` say, one after the other. */
async function openThread(participants: string[] = [], delays: readonly number[] = [0]) {
  const store = openMemoryStore();
  const feed = createFeed();
  const log = createLog(store, feed);
  const offered = new Map<string, number>();
  let reads = 0;
  const fanOut = createFanOut({
    log: {
      async read(query) {
        const page = await log.read(query);
        const late = delays[reads++ % delays.length] ?? 0;
        for (let i = 0; i < late; i++) await tick();
        return page;
      },
    },
    feed,
    offered: ({ session_id }, _threadId, _first, last) => void offered.set(session_id, last),
  });
  let salt = 0;
  const thread_id = 'th_fan';
  const act = (command: object): Promise<unknown> =>
    log.append({ caller, now: 1_000, salt: salt++, thread_id, ...command } as Command);
  await act({
    type: 'create_thread',
    input: { title: 't', type: 'conversation' satisfies Thread['type'], participants },
  });
  const post = (): Promise<unknown> =>
    act({ type: 'post_message', input: { schema_version: 1, kind: 'chat', body: 'x' } });
  return { fanOut, thread_id, post, offered };
}

const lateness = fc.array(fc.nat(4), { minLength: 1, maxLength: 7 });

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('post' as const), count: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('join' as const),
      room: fc.integer({ min: 1, max: 6 }),
      from: fc.nat(20),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('empty' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tick' as const) }) },
);

test('[LIVE-14] [R6] whenever they join and however slowly they read, followers get every entry once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), lateness, async (steps, delays) => {
      const { fanOut, thread_id, post, offered } = await openThread([], delays);
      const readers: { reader: ReturnType<typeof createReader>; from: number }[] = [];
      let posted = 0;
      for (const todo of steps) {
        if (todo.do === 'post')
          for (let i = 0; i < todo.count; i++) {
            posted++;
            void post();
          }
        else if (todo.do === 'join') {
          const { from } = todo;
          const reader = createReader({ ...caller, session_id: `s${readers.length}` }, todo.room);
          readers.push({ reader, from });
          fanOut.follow(reader.follower, thread_id, from);
        } else if (todo.do === 'empty') for (const { reader } of readers) reader.empty();
        else await tick();
      }
      for (
        let i = 0;
        i < 600 && readers.some(({ reader, from }) => reader.seqs.length < posted - from);
        i++
      ) {
        for (const { reader } of readers) reader.empty();
        await tick();
      }
      await tick();
      for (const { reader, from } of readers) {
        expect(reader.seqs).toEqual(
          Array.from({ length: Math.max(0, posted - from) }, (_, i) => from + 1 + i),
        );
        expect(reader.errors).toEqual([]);
        if (from < posted) expect(offered.get(reader.follower.caller.session_id)).toBe(posted);
      }
      fanOut.close();
    }),
    { numRuns: 300 },
  );
});

test('who unfollows hears nothing more, and who may not read is told', async () => {
  const { fanOut, thread_id, post } = await openThread(['bob']);
  const stays = createReader({ ...caller, agent_id: 'bob', role: 'worker' }, 100);
  const leaves = createReader({ ...caller, session_id: 's2' }, 100);
  const stranger = createReader({ ...caller, agent_id: 'mallory', role: 'worker' }, 100);
  for (const { follower } of [stays, leaves, stranger]) fanOut.follow(follower, thread_id, 0);
  await post();
  await tick();
  fanOut.unfollow(leaves.follower);
  await post();
  await tick();
  expect(stays.seqs).toEqual([1, 2]);
  expect(leaves.seqs).toEqual([1]);
  expect(stranger.seqs).toEqual([]);
  expect(stranger.errors).toMatchObject([{ threadId: thread_id, why: { code: 'FORBIDDEN' } }]);
  fanOut.close();
});
