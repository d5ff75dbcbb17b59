import { type Caller, type Control, LIMITS } from '@parley/protocol';
import { beforeEach, expect, test } from 'vitest';

import type { Aside, Command } from '../commands.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';
import { ALL, callerOf, creating, head, NOW, posting } from '../store-contract/scene.ts';

const alice = callerOf('alice', 'w');
const bob = callerOf('bob', 'w');
const boss = callerOf('boss', 'w', 'operator');
const olga = callerOf('olga', 'w', 'orchestrator');
const watcher = callerOf('alice', 'w', 'observer');
const at = (ms: number): string => new Date(NOW + ms).toISOString();

let store: Store;
let now: number;
beforeEach(async () => {
  now = NOW;
  store = openMemoryStore(() => now);
  await store.transact(creating('t', boss, ['alice', 'bob']));
});

const give = async (control: Control | undefined, caller = boss, more: Aside = {}, thread_id = 't') =>
  (
    await store.transact({
      type: 'control_thread',
      ...head(caller, now),
      thread_id,
      input: { ...more, control },
    })
  ).result;
const entries = async (thread_id = 't') =>
  (await store.page({ workspace_id: 'w', thread_id, after: 0, ...ALL })).entries;
const last = async (thread_id = 't') => (await entries(thread_id)).at(-1);
const state = async (thread_id = 't') =>
  (await store.page({ workspace_id: 'w', thread_id, after: 0, ...ALL })).located.thread;
const mutes = () => store.records({ kind: 'mutes', workspace_id: 'w', limit: 10 });
const refused = (code: string, part: string, details?: object) => ({
  code,
  message: expect.stringContaining(part) as string,
  ...(details === undefined ? {} : { details }),
});

test.each<[string, Control]>([
  ['mute alice, bob', { mute: { mode: 'hard', targets: ['alice', 'bob'] } }],
  ['mute bob for 60 s', { mute: { mode: 'hard', targets: ['bob'], for_seconds: 60 } }],
  ['pause', { pause: { on: true } }],
  ['resume', { pause: { on: false } }],
  ['prod alice, bob', { prod: ['alice', 'bob'] }],
  ['done', { done: true }],
  ['not done after all', { done: false }],
  ['ends in 9 s', { ttl_seconds: 9 }],
  ['discussion on', { discussion: { on: true } }],
  ['discussion off', { discussion: { on: false } }],
  ['invited_auto on', { invited_auto: { on: true } }],
  ['invited_auto off', { invited_auto: { on: false } }],
  ['policy permissive', { policy: { mode: 'permissive' } }],
  ['profile', { profile: { nickname: 'chief' } }],
  ['leave', { leave: true }],
  ['remove bob', { remove: { participant_id: 'bob' } }],
  ['invite carol', { invite: { participant_id: 'carol' } }],
])('%s stands in the log as it was given', async (body, control) => {
  const { message_id, seq, created_at } = await give(control);
  expect(await last()).toMatchObject({ type: 'control', kind: 'system', body, message_id, seq, created_at });
  expect((await last())?.metadata).toEqual({ control });
});

test('who was muted is unmuted by name, and a control may be none at all', async () => {
  await give({ mute: { mode: 'hard', targets: ['alice', 'bob'] } });
  await give({ unmute: { targets: ['alice', 'bob'] } });
  expect((await last())?.body).toBe('unmute alice, bob');
  await give(undefined, alice, { tags: ['x'], to: 'bob', in_reply_to: (await last())?.message_id });
  expect(await last()).toMatchObject({ body: 'control', to: 'bob', metadata: { tags: ['x'] } });
  expect((await last())?.metadata).not.toHaveProperty('control');
  await give(undefined, alice, { to: 'all' });
  expect(await last()).not.toHaveProperty('to');
  await expect(give(undefined, alice, { to: 'zoe' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  await expect(give(undefined, alice, { in_reply_to: 'msg_none' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('agents prod, leave and describe themselves; the rest is for those who steer, and nothing for observers', async () => {
  const steering: Control[] = [
    { mute: { mode: 'hard', targets: ['bob'] } },
    { unmute: { targets: ['bob'] } },
    { pause: { on: true } },
    { done: true },
    { ttl_seconds: 9 },
    { discussion: { on: true } },
    { invited_auto: { on: true } },
    { invite: { participant_id: 'carol' } },
    { remove: { participant_id: 'bob' } },
    { policy: { mode: 'auto' } },
  ];
  for (const control of steering) {
    const [verb = ''] = Object.keys(control);
    await expect(give(control, alice)).rejects.toMatchObject(
      refused('INSUFFICIENT_AUTHORITY', `may use ${verb}`, { role: 'worker', control: verb }),
    );
  }
  await expect(give({ prod: ['bob'] }, watcher)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  for (const control of [{ prod: ['bob'] }, { profile: {} }, { leave: true }] as Control[])
    await give(control, alice);
  await give({ pause: { on: true } }, olga);
});

test('a closed thread takes no control', async () => {
  const input = { status: 'closed', reason: 'done' } as const;
  await store.transact({ type: 'update_status', ...head(boss, now), thread_id: 't', input });
  await expect(give({ pause: { on: true } })).rejects.toMatchObject(
    refused('CONFLICT', 'the thread is closed'),
  );
});

test('to call or describe is to speak: who is muted may not, and who is paused only steers without words', async () => {
  await give({ mute: { mode: 'hard', targets: ['alice', 'olga'].slice(0, 1) } });
  const muted = refused('FORBIDDEN', 'you are muted', { reason: 'muted' });
  for (const control of [{ prod: ['bob'] }, { profile: {} }, undefined] as (Control | undefined)[])
    await expect(give(control, alice)).rejects.toMatchObject(muted);
  await expect(give({ leave: true }, alice, { tags: ['x'] })).rejects.toMatchObject(muted);
  await give({ leave: true }, alice);
  await give({ pause: { on: true } });
  const paused = refused('FORBIDDEN', 'the thread is paused', { reason: 'paused' });
  await expect(give({ invite: { participant_id: 'carol', profile: {} } }, olga)).rejects.toMatchObject(
    paused,
  );
  await give({ invite: { participant_id: 'carol' } }, olga);
  await give({ invite: { participant_id: 'dora', profile: {} } }, boss);
});

test('a control is about those who take part', async () => {
  const wrong = (field: string) => ({ code: 'VALIDATION_ERROR', details: { field } });
  await expect(give({ mute: { mode: 'hard', targets: ['zoe'] } })).rejects.toMatchObject(
    wrong('control.mute.targets'),
  );
  await expect(give({ unmute: { targets: ['bob', 'zoe'] } })).rejects.toMatchObject(
    wrong('control.unmute.targets'),
  );
  await expect(give({ mute: { mode: 'hard', targets: ['bob', 'boss'] } })).rejects.toMatchObject(
    refused('VALIDATION_ERROR', 'you cannot mute yourself'),
  );
  await give({ unmute: { targets: ['boss'] } });
  await expect(give({ prod: ['bob', 'zoe'] })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  await expect(give({ remove: { participant_id: 'zoe' } })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  });
  await expect(give({ leave: true }, olga)).rejects.toMatchObject(
    refused('VALIDATION_ERROR', 'you take no part'),
  );
  // Who was muted and left is unmuted all the same.
  await give({ mute: { mode: 'hard', targets: ['bob'] } });
  await give({ remove: { participant_id: 'bob' } });
  await give({ unmute: { targets: ['bob'] } });
});

test('a nickname leads to one participant, and is no word that is taken', async () => {
  await give({ profile: { nickname: 'Speedy' } }, alice);
  const taken = (nickname: string) =>
    refused('VALIDATION_ERROR', `${nickname} already means somebody else here`);
  for (const nickname of ['speedy', 'ALICE', 'All'])
    await expect(give({ profile: { nickname } }, bob)).rejects.toMatchObject(taken(nickname));
  await give({ profile: { nickname: 'SPEEDY' } }, alice);
  await give({ profile: { nickname: 'Alice' } }, alice);
  await expect(
    give({ invite: { participant_id: 'carol', profile: { nickname: 'bob' } } }),
  ).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: { field: 'control.invite.profile.nickname' },
  });
  await give({ profile: { nickname: 'speedy' } }, bob);
});

test('mutes with an end are known beside the thread, the next one first, and go when the last has ended', async () => {
  expect(await mutes()).toEqual([]);
  await give({ mute: { mode: 'hard', targets: ['alice'], for_seconds: 20 } });
  await give({ mute: { mode: 'hard', targets: ['bob'], for_seconds: 10 } });
  expect(await mutes()).toEqual([{ workspace_id: 'w', thread_id: 't', next: at(10_000) }]);
  const end = () =>
    store.transact({ type: 'end_mutes', ...head(boss, now), thread_id: 't', input: {} } satisfies Command);
  const before = await entries();
  now = NOW + 9_999;
  await end();
  expect(await entries()).toEqual(before);
  now += 1;
  await end();
  expect(await last()).toMatchObject({
    type: 'control',
    body: 'unmute bob: the time is up',
    metadata: { control: { unmute: { targets: ['bob'] } } },
  });
  expect(await mutes()).toEqual([{ workspace_id: 'w', thread_id: 't', next: at(20_000) }]);
  now = NOW + 20_000;
  await end();
  expect(await mutes()).toEqual([]);
});

const assign = async (
  caller: Caller,
  input: { to?: string; role?: string; body?: string; metadata?: object; idempotency_key?: string },
) =>
  (
    await store.transact({
      type: 'assign_task',
      ...head(caller, now),
      thread_id: 't',
      input: { body: 'do it', ...input },
    } as never)
  ).result as { message_id: string; seq: number; created_at: string; called: string[] };
const report = async (caller: Caller, input: object) =>
  (await store.transact({ type: 'report_result', ...head(caller, now), thread_id: 't', input } as never))
    .result as {
    message_id: string;
    seq: number;
  };

test('a task is for one or for a role, and is called for', async () => {
  await give({ profile: { roles: ['tester'] } }, bob);
  const one = await assign(alice, { to: 'bob', metadata: { n: 1 } });
  expect(one.called).toEqual(['bob']);
  expect(await last()).toMatchObject({
    type: 'task',
    kind: 'event',
    body: 'do it',
    to: 'bob',
    message_id: one.message_id,
    seq: one.seq,
    metadata: { n: 1, event_type: 'task' },
  });
  expect((await last())?.metadata).not.toHaveProperty('role');
  expect((await assign(alice, { role: 'tester' })).called).toEqual(['bob']);
  expect((await last())?.metadata).toMatchObject({ event_type: 'task', role: 'tester' });
  expect(await last()).not.toHaveProperty('to');
  await expect(assign(alice, { to: 'zoe' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  await expect(assign(watcher, { to: 'bob' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await give({ mute: { mode: 'hard', targets: ['alice'] } });
  await expect(assign(alice, { to: 'bob' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

test('a result answers its task, and goes to whoever gave it unless it is told otherwise', async () => {
  const { message_id: task } = await assign(alice, { to: 'bob' });
  const { message_id, seq } = await report(bob, { task, output: { ok: 1 }, metadata: { n: 2 } });
  expect(await last()).toMatchObject({
    type: 'result',
    kind: 'event',
    body: '{"ok":1}',
    in_reply_to: task,
    to: 'alice',
    message_id,
    seq,
    metadata: { n: 2, event_type: 'result', output: { ok: 1 } },
  });
  await report(bob, { task, body: 'done', to: 'boss' });
  expect(await last()).toMatchObject({ body: 'done', to: 'boss' });
  expect((await last())?.metadata).not.toHaveProperty('output');
  await give({ leave: true }, alice);
  await report(bob, { task, body: 'done' });
  expect(await last()).not.toHaveProperty('to');
  const { message_id: message } = (await store.transact(posting('t', 'no task', bob))).result;
  for (const wrong of [message, 'msg_none', task.slice(0, -1).concat(task.endsWith('0') ? '1' : '0')])
    await expect(report(bob, { task: wrong, body: 'x' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { field: 'task' },
    });
  await expect(report(bob, { task, body: 'x', to: 'zoe' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  });
  await expect(report({ ...watcher, agent_id: 'bob' }, { task, body: 'x' })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
  await give({ pause: { on: true } });
  await expect(report(bob, { task, body: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

test('a presence stands in the log where it was asked to, also of one who is muted, but not with words of its own', async () => {
  const note = (caller: Caller, more: Aside = {}) =>
    store.transact({
      type: 'note_presence',
      ...head(caller, now),
      thread_id: 't',
      input: { transition: 'typing_started', state: 'typing', ...more },
    });
  await give({ mute: { mode: 'hard', targets: ['alice'] } });
  const { result } = await note(alice, { to: 'bob' });
  expect(result).toEqual({ message_id: (await last())?.message_id, seq: 2 });
  expect(await last()).toMatchObject({
    type: 'presence',
    kind: 'system',
    body: 'typing_started',
    to: 'bob',
    ...result,
  });
  expect((await last())?.metadata).toEqual({ transition: 'typing_started', state: 'typing' });
  await expect(note(alice, { tags: ['x'] })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await note(bob, { tags: ['x'] });
  await expect(note(watcher)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  const input = { status: 'closed', reason: 'done' } as const;
  await store.transact({ type: 'update_status', ...head(boss, now), thread_id: 't', input });
  await expect(note(bob)).rejects.toMatchObject({ code: 'CONFLICT' });
  expect((await state())?.status).toBe('closed');
});

const openSide = (caller: Caller, participants: string[] = [], thread_id = 't', side_id = 's') =>
  store.transact({
    type: 'open_side',
    ...head(caller, now),
    thread_id,
    side_id,
    input: { title: 'aside', purpose: 'to settle it', participants },
  });
const closeSide = (caller: Caller, main_id = 't', thread_id = 's') =>
  store.transact({
    type: 'close_side',
    ...head(caller, now),
    thread_id,
    main_id,
    input: { summary: 'settled' },
  });

test('a side channel is opened by and for those of its thread, and both know of it', async () => {
  await expect(openSide(watcher)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(openSide(alice, ['bob', 'zoe'])).rejects.toMatchObject(
    refused('VALIDATION_ERROR', 'zoe is not in the main thread', { field: 'participants' }),
  );
  const { result } = await openSide(alice, ['bob', 'alice']);
  expect(result).toEqual({
    thread_id: 's',
    main_thread_id: 't',
    link_message_id: (await last())?.message_id,
  });
  expect(await last()).toMatchObject({
    type: 'side.opened',
    body: 'side channel: aside',
    metadata: {
      side_id: 's',
      title: 'aside',
      purpose: 'to settle it',
      owner: 'alice',
      participants: ['alice', 'bob'],
    },
  });
  expect(await state('s')).toMatchObject({
    side_of: 't',
    participants: ['alice', 'bob'],
    created_by: 'alice',
  });
  await expect(openSide(alice, [], 's', 's2')).rejects.toMatchObject(
    refused('CONFLICT', 'a side channel has no side channels'),
  );
  // Who opened it asks others in; nobody else of it does.
  await give({ invite: { participant_id: 'boss' } }, alice, {}, 's');
  await expect(give({ invite: { participant_id: 'carol' } }, bob, {}, 's')).rejects.toMatchObject({
    code: 'INSUFFICIENT_AUTHORITY',
  });
  await give({ mute: { mode: 'hard', targets: ['bob'] } });
  await expect(openSide(bob, [], 't', 's3')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await openSide(olga, ['bob'], 't', 's4');
});

test('fifty side channels are open at once and no more; one that is closed makes room', async () => {
  for (let i = 0; i < 50; i++) await openSide(alice, [], 't', `s${i}`);
  await expect(openSide(alice, [], 't', 'more')).rejects.toMatchObject(
    refused('CONFLICT', '50 side channels'),
  );
  await closeSide(alice, 't', 's7');
  await openSide(alice, [], 't', 'more');
});

test('a side channel is closed by its owner or those who steer, and its summary goes to the main thread', async () => {
  await openSide(alice, ['bob']);
  await expect(closeSide(bob)).rejects.toMatchObject({ code: 'INSUFFICIENT_AUTHORITY' });
  await expect(closeSide({ ...watcher })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await store.transact(creating('u', boss, ['alice', 'bob']));
  for (const [main, side] of [
    ['u', 's'],
    ['t', 'u'],
    ['none', 's'],
  ] as const)
    await expect(closeSide(boss, main, side)).rejects.toMatchObject(
      refused('CONFLICT', 'is no side channel'),
    );
  await store.transact(posting('s', 'one', bob));
  await give({ pause: { on: true } });
  await expect(closeSide(alice)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await give({ pause: { on: false } });
  const { result } = await closeSide(alice);
  expect(result).toEqual({
    thread_id: 's',
    main_thread_id: 't',
    summary_message_id: (await last())?.message_id,
  });
  expect(await last()).toMatchObject({
    type: 'side.closed',
    body: 'settled',
    metadata: { side_id: 's', title: 'aside', summary: 'settled', last_seq: 1 },
  });
  expect(await last('s')).toMatchObject({
    type: 'thread.status',
    metadata: { to: 'closed', reason: 'settled' },
  });
  await expect(closeSide(alice)).rejects.toMatchObject({ code: 'CONFLICT' });
  await openSide(alice, ['bob'], 't', 'second');
  await closeSide(olga, 't', 'second');
});

test('who made a thread invites nobody into it unless it steers, and a closed one takes no task', async () => {
  await store.transact(creating('own', alice, ['bob']));
  await expect(give({ invite: { participant_id: 'carol' } }, alice, {}, 'own')).rejects.toMatchObject({
    code: 'INSUFFICIENT_AUTHORITY',
  });
  const { message_id } = (await store.transact(posting('t', 'one', bob))).result;
  await give({ prod: ['bob'] }, alice, { in_reply_to: message_id });
  expect(await last()).toMatchObject({ in_reply_to: message_id });
  const input = { status: 'closed', reason: 'done' } as const;
  await store.transact({ type: 'update_status', ...head(boss, now), thread_id: 't', input });
  await expect(assign(alice, { to: 'bob' })).rejects.toMatchObject(
    refused('CONFLICT', 'the thread is closed'),
  );
});

test('a task and a result keep the key they were sent with', async () => {
  const task = await assign(alice, { to: 'bob', idempotency_key: 'k1' });
  expect((await last())?.idempotency_key).toBe('k1');
  await report(bob, { task: task.message_id, body: 'done', idempotency_key: 'k2' });
  expect((await last())?.idempotency_key).toBe('k2');
});

test('a control that says nothing changes nothing of a conversation that nobody has steered', async () => {
  await give(undefined, alice);
  expect(await state()).not.toHaveProperty('conversation');
  expect(await mutes()).toEqual([]);
});

test('who opened a side channel asks others into it, and steers it in no other way', async () => {
  await openSide(alice, []);
  await give({ invite: { participant_id: 'bob' } }, alice, {}, 's');
  expect((await state('s'))?.participants).toEqual(['alice', 'bob']);
  await expect(give({ pause: { on: true } }, alice, {}, 's')).rejects.toMatchObject({
    code: 'INSUFFICIENT_AUTHORITY',
  });
});

test('a thread has so many participants and no more, and who takes part already is no one more', async () => {
  const many = Array.from({ length: LIMITS.participants - 2 }, (_, i) => `p${i}`);
  await store.transact(creating('full', boss, many));
  const invite = (participant_id: string) => give({ invite: { participant_id } }, boss, {}, 'full');
  await invite('last');
  await expect(invite('one-more')).rejects.toMatchObject({ code: 'CONFLICT' });
  await invite('last');
});

test('the profiles of a thread have so many bytes together', async () => {
  const describe = (agent: Caller, roles: string[]) => give({ profile: { roles } }, agent);
  const bytes = (...profiles: [string, string[]][]) =>
    JSON.stringify(Object.fromEntries(profiles.map(([name, roles]) => [name, { roles }]))).length;
  const half = ['x'.repeat(65_000)];
  await describe(alice, half);
  const spare = 131_072 - bytes(['alice', half], ['bob', ['']]);
  await describe(bob, ['x'.repeat(spare)]);
  await expect(describe(bob, ['x'.repeat(spare + 1)])).rejects.toMatchObject({ code: 'CONFLICT' });
  // One without a nickname is in nobody's way.
  await give({ profile: { roles: [] } }, bob);
  await give({ profile: { nickname: 'ally' } }, alice);
});
