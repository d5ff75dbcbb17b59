import type { Role } from '@parley/protocol';
import { expect, test } from 'vitest';

import { decide, needs } from '../rules.ts';
import { openMemoryStore } from '../store-memory.ts';
import { acking, callerOf, creating, NOW, posting } from '../store-contract/scene.ts';

const alice = callerOf('alice', 'w');
const bob = callerOf('bob', 'w');

/** A thread of alice and bob with three messages of alice. */
async function scene() {
  const store = openMemoryStore(() => NOW);
  await store.transact(creating('t', alice, ['bob']));
  const ids: string[] = [];
  for (const body of ['one', 'two', 'three'])
    ids.push((await store.transact(posting('t', body, alice))).result.message_id);
  return { store, ids };
}

test('[R5] a cursor goes forward only, not beyond the end, and stays where it is told so again', async () => {
  const { store, ids } = await scene();
  const cursorOf = async () =>
    (await store.cursors('t', alice.workspace_id)).find(({ agent_id }) => agent_id === 'bob');
  await store.transact(acking('t', 0, bob));
  expect(await cursorOf()).toMatchObject({ last_read_seq: 0, last_acked_message_id: null });
  const at = new Date(NOW + 1_000).toISOString();
  const first = await store.transact({ ...acking('t', 2, bob), now: NOW + 1_000 });
  expect(first.result).toEqual({ ok: true, updated_at: at });
  expect(await cursorOf()).toMatchObject({
    last_read_seq: 2,
    last_acked_message_id: ids[1],
    updated_at: at,
  });
  const again = await store.transact({ ...acking('t', 2, bob), now: NOW + 2_000 });
  expect(again.result).toEqual({ ok: true, updated_at: at });
  for (const [seq, why] of [
    [1, 'below the cursor (2)'],
    [4, 'beyond the newest message (3)'],
  ] as const)
    await expect(store.transact(acking('t', seq, bob))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(why) as string,
      details: { field: 'last_read_seq' },
    });
  expect(await cursorOf()).toMatchObject({ last_read_seq: 2 });
  await store.transact(acking('t', 3, bob));
  expect(await cursorOf()).toMatchObject({ last_read_seq: 3 });
});

test('an observer does not post, and a message to all names nobody', async () => {
  const { store } = await scene();
  const watcher = callerOf('alice', 'w', 'observer' satisfies Role);
  await expect(store.transact(posting('t', 'x', watcher))).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(store.transact(posting('t', 'x', alice, { input: { to: 'carol' } }))).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  });
  await store.transact(posting('t', 'to all', alice, { input: { to: 'all' } }));
  await store.transact(posting('t', 'to bob', alice, { input: { to: 'bob' } }));
  const { entries } = await store.page({
    workspace_id: 'w',
    thread_id: 't',
    after: 3,
    limit: 9,
    max_bytes: 1e6,
  });
  expect(entries.map(({ to }) => to)).toEqual([undefined, 'bob']);
});

test('of two the other is called, and one from outside calls whom it answers', async () => {
  const { store, ids } = await scene();
  const { result } = await store.transact(posting('t', 'x', bob));
  expect(result).toMatchObject({ called: ['alice'], not_called: [], invokes: ['alice'] });
  const carol = callerOf('carol', 'w', 'operator');
  const answer = posting('t', 'x', carol, { input: { in_reply_to: ids[0]! } });
  expect((await store.transact(answer)).result).toMatchObject({ called: ['alice'] });
  const plain = (await store.transact(posting('t', 'x', carol))).result;
  expect(plain.called).toEqual([]);
  expect(plain.not_called.map(({ agent, why }) => [agent, why])).toEqual([
    ['alice', 'not_addressed'],
    ['bob', 'not_addressed'],
  ]);
});

test('an answer to the founding of a thread, or to nothing, is refused', async () => {
  const { store, ids } = await scene();
  const founded = await store.tail({ workspace_id: 'w', thread_id: 't', limit: 9, max_bytes: 1e6 });
  const first = founded.entries.find(({ seq }) => seq === 0)?.message_id ?? 'm_00';
  for (const in_reply_to of [first, `${ids[0]}x`])
    await expect(store.transact(posting('t', 'x', bob, { input: { in_reply_to } }))).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { field: 'in_reply_to' },
    });
  await store.transact(posting('t', 'x', bob, { input: { in_reply_to: ids[0]! } }));
});

test.each([
  ['thread_escalated', 'blocked'],
  ['thread_resolved', 'resolved'],
])('an event %s makes the thread %s, with its reason and its cause', async (event_type, status) => {
  const { store } = await scene();
  const event = (reason?: unknown) =>
    posting('t', 'x', alice, {
      input: { kind: 'event', metadata: { event_type, ...(reason === undefined ? {} : { reason }) } },
    });
  const { result } = await store.transact(event('because'));
  expect(result).toMatchObject({ thread_status: status, seq: 4 });
  const { entries } = await store.page({
    workspace_id: 'w',
    thread_id: 't',
    after: 4,
    limit: 9,
    max_bytes: 1e6,
  });
  expect(entries).toMatchObject([
    { type: 'thread.status', metadata: { to: status, reason: 'because', cause: result.message_id } },
  ]);
  // It is so already: nothing changes.
  expect((await store.transact(event())).result).toMatchObject({ thread_status: status, seq: 6 });
  expect(
    (await store.page({ workspace_id: 'w', thread_id: 't', after: 5, limit: 9, max_bytes: 1e6 })).entries,
  ).toHaveLength(1);
});

test('an event without a reason in words gives its own name as the reason; other words change nothing', async () => {
  const { store } = await scene();
  const say = (event_type: string, kind: 'event' | 'chat') =>
    store.transact(posting('t', 'x', alice, { input: { kind, metadata: { event_type, reason: 7 } } }));
  expect((await say('thread_resolved', 'chat')).result.thread_status).toBe('active');
  expect((await say('something_else', 'event')).result.thread_status).toBe('active');
  await say('thread_resolved', 'event');
  const { entries } = await store.tail({ workspace_id: 'w', thread_id: 't', limit: 1, max_bytes: 1e6 });
  expect(entries).toMatchObject([{ metadata: { reason: 'thread_resolved' } }]);
});

test('a command that came too late is refused at the moment of its turn, not before', () => {
  const command = { ...creating('t', alice), deadline: NOW };
  const loaded = { located: { thread: undefined, foreign: false } } as never;
  expect(() => decide(loaded, { ...command, now: NOW })).not.toThrow();
  expect(() => decide(loaded, creating('t', alice))).not.toThrow();
  expect(() => decide(loaded, { ...command, now: NOW + 1 })).toThrow(/good until 2030-01-01T00:00:00/);
  expect(needs({ ...command, fence: { lease: 'l', epoch: 1 } })).toMatchObject({ lease: 'l' });
  expect(needs(command)).not.toHaveProperty('lease');
});
