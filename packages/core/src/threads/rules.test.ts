import type { Caller, ThreadStatus } from '@parley/protocol';
import { beforeEach, expect, test } from 'vitest';

import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';
import { ALL, callerOf, creating, head, NOW, posting } from '../store-contract/scene.ts';

const alice = callerOf('alice', 'w');
const bob = callerOf('bob', 'w');
const boss = callerOf('boss', 'w', 'operator');
const olga = callerOf('olga', 'w', 'orchestrator');
const observer = callerOf('bob', 'w', 'observer');

let store: Store;
let now: number;
beforeEach(async () => {
  now = NOW;
  store = openMemoryStore(() => now);
  await store.transact(creating('t', alice, ['bob', 'alice', 'bob']));
});

const page = (thread_id = 't') => store.page({ workspace_id: 'w', thread_id, after: 0, ...ALL });
const last = async (thread_id = 't') => (await page(thread_id)).entries.at(-1);
const state = async (thread_id = 't') => (await page(thread_id)).located.thread;
const move = (
  status: ThreadStatus,
  caller: Caller = bob,
  metadata?: Record<string, unknown>,
  thread_id = 't',
) =>
  store.transact({
    type: 'update_status',
    ...head(caller, now),
    thread_id,
    input: { status, reason: 'so it is', ...(metadata === undefined ? {} : { metadata }) },
  });
const rename = (title: string, caller: Caller) =>
  store.transact({ type: 'rename_thread', ...head(caller, now), thread_id: 't', input: { title } });
const control = (given: object, caller = boss) =>
  store.transact({
    type: 'control_thread',
    ...head(caller, now),
    thread_id: 't',
    input: { control: given },
  } as never);

test('who makes a thread takes part in it, and nobody twice', async () => {
  const { result } = await store.transact(creating('u', bob, ['alice']));
  expect(result).toEqual({ thread_id: 'u', status: 'active', created_at: new Date(NOW).toISOString() });
  expect(await state('u')).toMatchObject({ participants: ['bob', 'alice'], created_by: 'bob', title: 'u' });
  expect(await state()).toMatchObject({ participants: ['alice', 'bob'], type: 'workflow', last_seq: 0 });
});

test('a status changes with its reason, and what was said with it', async () => {
  now += 5;
  const { result } = await move('blocked', bob, { n: 1 });
  const updated_at = new Date(NOW + 5).toISOString();
  expect(result).toEqual({ thread_id: 't', status: 'blocked', updated_at });
  expect(await last()).toMatchObject({
    type: 'thread.status',
    kind: 'system',
    body: 'status active → blocked: so it is',
    metadata: {
      event_type: 'thread_status_changed',
      from: 'active',
      to: 'blocked',
      reason: 'so it is',
      role: 'worker',
      metadata: { n: 1 },
    },
  });
  await move('active');
  expect(Object.keys((await last())?.metadata ?? {})).not.toContain('metadata');
  expect(await state()).toMatchObject({ status: 'active', last_seq: 2 });
});

test('an observer changes nothing, one who is muted neither, and in a pause only those who steer', async () => {
  await expect(move('blocked', observer)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await control({ pause: { on: true } });
  await expect(move('blocked')).rejects.toMatchObject({ code: 'FORBIDDEN', details: { reason: 'paused' } });
  await expect(rename('x', alice)).rejects.toMatchObject({ details: { reason: 'paused' } });
  await move('blocked', olga);
  await control({ pause: { on: false } });
  await control({ mute: { targets: ['alice', 'bob'] } });
  await expect(move('active')).rejects.toMatchObject({ code: 'FORBIDDEN', details: { reason: 'muted' } });
  await expect(rename('x', alice)).rejects.toMatchObject({ details: { reason: 'muted' } });
});

test('what is closed is opened again by those who steer alone', async () => {
  await move('closed');
  await expect(move('closed', boss)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'the thread is already closed',
    details: { from: 'closed', to: 'closed', legal: ['active'] },
  });
  await expect(move('resolved', boss)).rejects.toMatchObject({
    message: 'a thread cannot go from closed to resolved',
  });
  await expect(move('active')).rejects.toMatchObject({
    code: 'INSUFFICIENT_AUTHORITY',
    details: { role: 'worker', from: 'closed', to: 'active' },
  });
  await move('active', olga);
});

test('a thread is renamed by who made it and by those who steer, and both names are on record', async () => {
  await expect(rename('new', bob)).rejects.toMatchObject({ code: 'INSUFFICIENT_AUTHORITY' });
  now += 5;
  const { result } = await rename('new', alice);
  expect(result).toEqual({ thread_id: 't', title: 'new', updated_at: new Date(NOW + 5).toISOString() });
  expect(await last()).toMatchObject({
    type: 'thread.renamed',
    body: 'new',
    metadata: { from: 't', title: 'new' },
  });
  for (const [title, caller] of [
    ['third', boss],
    ['fourth', olga],
  ] as const)
    await rename(title, caller);
  expect(await state()).toMatchObject({ title: 'fourth' });
});

test('a side channel is closed with its summary and stays closed', async () => {
  const input = { title: 'aside', purpose: 'p', participants: ['bob'] };
  await store.transact({ type: 'open_side', ...head(alice, now), thread_id: 't', side_id: 's', input });
  await expect(move('closed', boss, undefined, 's')).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('with close_side_channel') as string,
  });
  await move('blocked', bob, undefined, 's');
  const summary = { summary: 'all said' };
  await store.transact({
    type: 'close_side',
    ...head(alice, now),
    thread_id: 's',
    main_id: 't',
    input: summary,
  });
  await expect(move('active', boss, undefined, 's')).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('stays closed') as string,
  });
});

test('those of a thread and those who steer come in, others and other workspaces do not', async () => {
  const carol = callerOf('carol', 'w');
  await expect(store.transact(posting('t', 'x', carol))).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await store.transact(posting('t', 'x', olga));
  for (const stranger of [callerOf('alice', 'v'), callerOf('boss', 'v', 'operator')])
    await expect(store.transact(posting('t', 'x', stranger))).rejects.toMatchObject({
      code: 'OUT_OF_SCOPE_WORKSPACE',
    });
  await expect(store.transact(posting('none', 'x', alice))).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
