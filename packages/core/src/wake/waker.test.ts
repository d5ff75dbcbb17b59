import { HUB_NAME } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

import type { Delivery, Look } from './door.ts';
import { alice, ann, bob, delivered, openScene, scriptedDoor, SETTINGS } from './sample-wakes.ts';

test('[HUB-M9] [HUB-W1] a managed agent with unread messages is woken through its supervisor, and the log tells it step by step', async () => {
  const { door, doorRequests, targets } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door]);
  const { message_id } = await scene.say(alice, 'please look');
  const reported = await scene.trigger();
  expect(reported).toMatchObject({
    target_agent_id: 'bob',
    action: 'trigger_runtime',
    result: 'delivered',
    door: 'supervisor',
    proof: 'runtime_status',
  });
  expect(doorRequests).toHaveLength(1);
  expect(doorRequests[0]?.prompt).toContain(String(reported['trigger_id']));
  expect(targets[0]).toMatchObject({ agent_id: 'bob', managed: true, family: 'codex' });
  expect(await scene.steps()).toEqual(['asked', 'delivering', 'delivered']);
  const evidence = await scene.call(alice, 'get_message_evidence', {
    thread_id: scene.thread_id,
    message_id,
  });
  expect(evidence).toMatchObject({
    woken: [
      { agent_id: 'bob', by: 'alice', result: 'delivered', door: 'supervisor', proof: 'runtime_status' },
    ],
  });
});

test('[C-WAKE-08] without unread messages nobody is woken, and what was fetched or acknowledged is read', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door]);
  const none = { action: 'none', result: 'skipped', reason: 'nothing_unread' };
  expect(await scene.trigger()).toMatchObject(none);
  await scene.say(bob, 'my own word');
  expect(await scene.trigger()).toMatchObject(none);
  await scene.say(alice, 'look');
  await scene.call(bob, 'read_messages', { thread_id: scene.thread_id });
  expect(await scene.trigger()).toMatchObject(none);
  const { seq } = await scene.say(alice, 'look again');
  await scene.call(bob, 'ack_read', { thread_id: scene.thread_id, last_read_seq: seq });
  expect(await scene.trigger(ann, { force: true, audit: { why: 'test' } })).toMatchObject(none);
  expect(doorRequests).toEqual([]);
});

test('[C-WAKE-09] fifty triggers at once are one delivery, and all of them hear of it', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door]);
  await scene.say(alice, 'look');
  const reported = await Promise.all(Array.from({ length: 50 }, () => scene.trigger()));
  expect(doorRequests).toHaveLength(1);
  expect(new Set(reported.map(({ trigger_id }) => trigger_id)).size).toBe(1);
  expect(reported.every(({ result }) => result === 'delivered')).toBe(true);
  // No repeat nags either, until something new is said or a long time has passed.
  expect(await scene.trigger()).toMatchObject({ result: 'skipped', reason: 'already_woken' });
  scene.time.now += SETTINGS.repeatAfterMs;
  expect(await scene.trigger()).toMatchObject({ result: 'delivered' });
  await scene.say(alice, 'more');
  expect(await scene.trigger()).toMatchObject({ result: 'delivered' });
  expect(doorRequests).toHaveLength(3);
});

test('[C-WAKE-09] two threads that wake one target at once are two deliveries, each for its own thread', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door]);
  const { thread_id: other } = (await scene.call(alice, 'create_thread', {
    title: 'another thread',
    participants: ['bob'],
  })) as { thread_id: string };
  await scene.say(alice, 'look here');
  await scene.call(alice, 'post_message', { thread_id: other, schema_version: 1, body: 'and there' });
  const reported = await Promise.all([scene.trigger(), scene.trigger(alice, { thread_id: other })]);
  expect(reported).toMatchObject([{ result: 'delivered' }, { result: 'delivered' }]);
  expect(new Set(reported.map(({ trigger_id }) => trigger_id)).size).toBe(2);
  const threads = (await scene.wakes()).map(({ thread_id }) => thread_id);
  expect(threads.toSorted()).toEqual([scene.thread_id, other].toSorted());
  expect(doorRequests).toHaveLength(2);
  // What is told of one is not told of the other.
  expect(await scene.trigger()).toMatchObject({ result: 'skipped', reason: 'already_woken' });
  await scene.call(alice, 'post_message', { thread_id: other, schema_version: 1, body: 'more' });
  expect(await scene.trigger()).toMatchObject({ result: 'skipped', reason: 'already_woken' });
  expect(await scene.trigger(alice, { thread_id: other })).toMatchObject({ result: 'delivered' });
});

test('two agents cannot wake each other for ever; a person is not counted', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door]);
  const results: unknown[] = [];
  for (let i = 0; i < 6; i++) {
    await scene.say(alice, `again ${i}`);
    results.push((await scene.trigger())['result']);
  }
  expect(results).toEqual(['delivered', 'delivered', 'delivered', 'skipped', 'skipped', 'skipped']);
  expect(doorRequests).toHaveLength(3);
  await scene.restart();
  expect(await scene.trigger()).toMatchObject({ result: 'skipped', reason: 'budget' });
  expect((await scene.journal()).at(-1)?.metadata).toMatchObject({ step: 'skipped', skip: 'budget' });
  expect(await scene.trigger(ann)).toMatchObject({ result: 'delivered' });
  scene.time.now += 3_600_000;
  await scene.say(alice, 'an hour later');
  expect(await scene.trigger()).toMatchObject({ result: 'delivered' });
});

test('[HUB-W3] [HUB-W4] [C-WAKE-06] a wake waits while a person types; an operator who insists does not', async () => {
  let idle = 3;
  const { door, doorRequests } = scriptedDoor(
    'supervisor',
    () => ({ can: 'now', human_idle_ms: idle }),
    delivered,
  );
  const scene = await openScene([door]);
  await scene.say(alice, 'look');
  const first = await scene.trigger();
  expect(first).toMatchObject({ result: 'deferred', defer_reason: 'human_input_busy' });
  expect(first['deferred_until']).toMatch(/^2030/);
  expect(await scene.trigger()).toMatchObject({ result: 'deferred', trigger_id: first['trigger_id'] });
  expect(doorRequests).toEqual([]);
  const audit = { asked_by: 'ann', why: 'release' };
  const forced = await scene.trigger(ann, { force: true, audit });
  expect(forced).toMatchObject({ result: 'delivered', trigger_id: first['trigger_id'] });
  expect(doorRequests).toMatchObject([{ force: true }]);
  expect(await scene.steps()).toEqual(['asked', 'deferred', 'forced', 'delivering', 'delivered']);
  expect((await scene.journal())[2]?.metadata).toMatchObject({ force: { audit } });

  await scene.say(alice, 'and this');
  expect(await scene.trigger()).toMatchObject({ result: 'deferred' });
  idle = SETTINGS.quietMs;
  await vi.waitFor(() => expect(doorRequests).toHaveLength(2), 5_000);
});

test('[HUB-W3] [C-WAKE-05] [C-WAKE-15] a person who never pauses ends in a collision on record; a process that dies meanwhile in the next door', async () => {
  const look: { now: Look } = { now: { can: 'now', human_idle_ms: 0 } };
  const typed = scriptedDoor('supervisor', () => look.now, delivered);
  const command = scriptedDoor('command', () => ({ can: 'now' }), delivered);
  const scene = await openScene([typed.door], { maxDeferMs: 50 });
  const { message_id } = await scene.say(alice, 'look');
  expect(await scene.trigger()).toMatchObject({ result: 'deferred' });
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.code).toBe('HUMAN_INPUT_COLLISION'), 5_000);
  expect((await scene.steps()).slice(-2)).toEqual(['door_passed', 'collided']);
  const evidence = await scene.call(alice, 'get_message_evidence', {
    thread_id: scene.thread_id,
    message_id,
  });
  expect(evidence).toMatchObject({ woken: [{ result: 'deferred', why: 'HUMAN_INPUT_COLLISION' }] });
  expect(typed.doorRequests).toEqual([]);

  const other = await openScene([typed.door, command.door], { maxDeferMs: 60_000 });
  await other.say(alice, 'look');
  expect(await other.trigger()).toMatchObject({ result: 'deferred', fallback_action: 'trigger_runtime' });
  look.now = { can: 'no', reason: 'process_gone' };
  await vi.waitFor(() => expect(command.doorRequests).toHaveLength(1), 5_000);
  expect(typed.doorRequests).toEqual([]);
});

test('[HUB-W3] a collision costs no wake: it stays, quietly, and goes in once the prompt is empty and quiet, or is given up in the end', async () => {
  const look: { now: Look } = { now: { can: 'later', reason: 'human_input_busy' } };
  const { door, doorRequests } = scriptedDoor('supervisor', () => look.now, delivered);
  const scene = await openScene([door], { maxDeferMs: 20, recheckMs: 5 });
  await scene.say(alice, 'look');
  const { trigger_id } = await scene.trigger();
  await vi.waitFor(async () => expect((await scene.steps()).at(-1)).toBe('collided'), 5_000);
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.deferred_ms).toBeGreaterThan(60), 5_000);
  const soFar = ['asked', 'deferred', 'door_passed', 'collided'];
  expect(await scene.steps()).toEqual(soFar);
  // Who asks again hears at once that it waits.
  expect(await scene.trigger()).toMatchObject({ result: 'deferred', trigger_id });
  await scene.restart();
  expect(doorRequests).toEqual([]);
  look.now = { can: 'now', human_idle_ms: SETTINGS.quietMs };
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), 5_000);
  await vi.waitFor(
    async () => expect(await scene.steps()).toEqual([...soFar, 'delivering', 'delivered']),
    20_000,
  );
  const [wake] = await scene.wakes();
  expect([wake?.state, wake?.code]).toEqual(['delivered', undefined]);

  const hopeless = await openScene(
    [scriptedDoor('supervisor', () => ({ can: 'later', reason: 'human_input_busy' }), delivered).door],
    {
      maxDeferMs: 20,
      expireMs: 80,
      recheckMs: 5,
    },
  );
  await hopeless.say(alice, 'look');
  await hopeless.trigger();
  await vi.waitFor(async () => expect((await hopeless.wakes())[0]?.state).toBe('failed'), 5_000);
  expect((await hopeless.wakes())[0]?.code).toBe('HUMAN_INPUT_COLLISION');
});

test('[HUB-W3] a program that works longer than a person may type is not given up: it gets the wake after its turn', async () => {
  const look: { now: Look } = { now: { can: 'later', reason: 'working' } };
  const { door, doorRequests } = scriptedDoor('supervisor', () => look.now, delivered);
  const scene = await openScene([door], { maxDeferMs: 20, recheckMs: 5 });
  await scene.say(alice, 'look');
  expect(await scene.trigger()).toMatchObject({ result: 'deferred', defer_reason: 'working' });
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.deferred_ms).toBeGreaterThan(60), 5_000);
  expect((await scene.wakes())[0]?.human_ms ?? 0).toBe(0);
  look.now = { can: 'now' };
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), 5_000);
  expect(await scene.steps()).toEqual(['asked', 'deferred', 'delivering', 'delivered']);
});

test('[HUB-W6] [C-WAKE-07] when every door fails the answer says so with each reason, and thread and cursor stay as they were', async () => {
  const { door } = scriptedDoor('supervisor', () => ({ can: 'no', reason: 'process_gone' }), delivered);
  const broken = scriptedDoor(
    'command',
    () => ({ can: 'now' }),
    () => Promise.reject(new Error('wire cut')),
  );
  const scene = await openScene([door, broken.door]);
  await scene.say(alice, 'look');
  const before = await scene.call(alice, 'get_thread', { thread_id: scene.thread_id });
  await expect(scene.trigger()).rejects.toMatchObject({
    code: 'WAKE_FAILED',
    details: {
      passed: expect.arrayContaining([
        { door: 'supervisor', reason: 'process_gone' },
        { door: 'command', reason: 'wire cut' },
        { door: 'codex_new', reason: 'not_configured' },
      ]),
    },
  });
  expect(await scene.call(alice, 'get_thread', { thread_id: scene.thread_id })).toEqual(before);
});

test('[HUB-W2] [C-WAKE-03] an unmanaged agent with no way set up is told as such', async () => {
  const scene = await openScene([]);
  await scene.call(bob, 'heartbeat_session', { runtime: 'codex_cli' });
  await scene.say(alice, 'look');
  await expect(scene.trigger()).rejects.toMatchObject({ code: 'UNMANAGED_RUNTIME' });
});

test('[HUB-W7] [C-WAKE-16] what was deferred, or being delivered, when the hub stopped goes on with the same trigger, once more at most', async () => {
  const look: { now: Look } = { now: { can: 'now', human_idle_ms: 0 } };
  const never = new Promise<Delivery>(() => {});
  const { door, doorRequests } = scriptedDoor('supervisor', () => look.now, delivered);
  const stuck = scriptedDoor(
    'supervisor',
    () => ({ can: 'now' }),
    () => never,
  );
  const scene = await openScene([door], { recheckMs: 20 });
  await scene.say(alice, 'look');
  const { trigger_id } = await scene.trigger();
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.deferred_ms).toBeGreaterThan(0), 5_000);
  const waited = (await scene.wakes())[0]?.deferred_ms ?? 0;
  await scene.restart();
  expect((await scene.wakes())[0]?.deferred_ms).toBeGreaterThanOrEqual(waited);
  expect(doorRequests).toEqual([]);
  look.now = { can: 'now' };
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), 5_000);
  expect(doorRequests[0]?.trigger_id).toBe(trigger_id);

  await scene.say(alice, 'more');
  await scene.restart([stuck.door]);
  void scene.trigger().catch(() => {});
  await vi.waitFor(() => expect(stuck.doorRequests).toHaveLength(1), 5_000);
  await scene.restart([stuck.door]);
  await vi.waitFor(() => expect(stuck.doorRequests).toHaveLength(2), 5_000);
  expect(stuck.doorRequests[1]?.trigger_id).toBe(stuck.doorRequests[0]?.trigger_id);
  await scene.restart([stuck.door]);
  await vi.waitFor(async () => expect((await scene.wakes()).at(-1)?.state).toBe('failed'), 5_000);
  expect(stuck.doorRequests).toHaveLength(2);
});

test('a wake that was read meanwhile is dropped after the restart', async () => {
  const { door, doorRequests } = scriptedDoor(
    'supervisor',
    () => ({ can: 'now', human_idle_ms: 0 }),
    delivered,
  );
  const scene = await openScene([door]);
  const { seq } = await scene.say(alice, 'look');
  await scene.trigger();
  await scene.call(bob, 'ack_read', { thread_id: scene.thread_id, last_read_seq: seq });
  await scene.restart();
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.state).toBe('skipped'), 5_000);
  expect(doorRequests).toEqual([]);
});

test('the same idempotency key wakes once and hears the same', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door]);
  await scene.say(alice, 'look');
  const key = { idempotency_key: 'k' };
  const first = await scene.trigger(alice, key);
  expect(await scene.trigger(alice, key)).toEqual(first);
  await expect(scene.trigger(alice, { ...key, reason: 'another' })).rejects.toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
  expect(doorRequests).toHaveLength(1);
});

test('what the runtime has only queued is not called delivered until it is worked on', async () => {
  let arrive = (): void => {};
  const arrives = new Promise<Delivery & { came: 'delivered' }>((resolve) => {
    arrive = () => resolve({ came: 'delivered', proof: 'runtime_record' });
  });
  const { door } = scriptedDoor(
    'supervisor',
    () => ({ can: 'now' }),
    async () => ({ came: 'queued', arrives }),
  );
  const scene = await openScene([door]);
  await scene.say(alice, 'look');
  expect(await scene.trigger()).toMatchObject({ result: 'queued' });
  arrive();
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.state).toBe('delivered'), 5_000);
  expect(await scene.steps()).toEqual(['asked', 'delivering', 'queued', 'delivered']);
});

test('[BRIDGE-13] [BRIDGE-16] whom a message calls upon is woken by the hub itself, from where it stopped', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door], {}, undefined, ['bob', 'carol']);
  let follower = scene.follow();
  await follower.start();
  await scene.say(alice, '@bob a mention of an agent calls nobody without discussion');
  await scene.say(ann, 'to everybody');
  await scene.say(ann, '@bob please');
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), 5_000);
  await scene.call(bob, 'read_messages', { thread_id: scene.thread_id });
  await follower.close();
  await scene.call(ann, 'control_thread', {
    thread_id: scene.thread_id,
    control: { invited_auto: { on: true } },
  });
  await scene.say(ann, 'to all who were invited');
  follower = scene.follow();
  await follower.start();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(2), 5_000);
  await follower.close();
  const asked = (await scene.journal()).filter(({ metadata }) => metadata?.['step'] === 'asked');
  expect(asked.map(({ sender_agent_id, metadata }) => [sender_agent_id, metadata?.['by']])).toEqual([
    [HUB_NAME, 'ann'],
    [HUB_NAME, 'ann'],
  ]);
});

test('[C-WAKE-08] whom nothing can reach is told of once, with the reason, and what was read by itself leaves no trace', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([{ ...door, serves: ({ agent_id }) => agent_id === 'alice' }]);
  await scene.call(alice, 'heartbeat_session', { runtime: 'codex_cli', management_mode: 'managed' });
  const follower = scene.follow();
  await follower.start();
  const { message_id } = await scene.say(alice, 'there are only two of us');
  await vi.waitFor(async () => expect(await scene.wakes()).toHaveLength(1), 5_000);
  const reported = async (id = message_id) =>
    scene.call(alice, 'get_message_evidence', { thread_id: scene.thread_id, message_id: id });
  expect(await reported()).toMatchObject({
    called: ['bob'],
    not_called: [],
    woken: [{ agent_id: 'bob', by: 'alice', result: 'skipped', why: 'no_door' }],
    not_woken: [],
  });
  const again = await scene.say(alice, 'are you there?');
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.through_seq).toBe(2), 5_000);
  expect(await reported(again.message_id)).toMatchObject({ woken: [{ why: 'no_door' }] });
  expect(await scene.wakes()).toHaveLength(1);
  expect(await scene.steps()).toEqual(['skipped']);

  await scene.say(bob, 'I am');
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), 5_000);
  await follower.close();
  await scene.say(alice, 'good');
  await scene.call(bob, 'read_messages', { thread_id: scene.thread_id });
  const next = scene.follow();
  await next.start();
  await scene.say(bob, 'I have read it');
  await vi.waitFor(async () => expect((await scene.wakes()).at(-1)?.skip).not.toBe('nothing_unread'), 5_000);
  await next.close();
  expect((await scene.wakes()).filter(({ skip }) => skip === 'nothing_unread')).toEqual([]);
});

test('[HUB-W1] what is said while a wake is on its way is woken for when that has ended', async () => {
  let arrive = (): void => {};
  const arrives = new Promise<void>((resolve) => (arrive = resolve));
  const { door, doorRequests } = scriptedDoor(
    'supervisor',
    () => ({ can: 'now' }),
    () => arrives.then(delivered),
  );
  const scene = await openScene([door]);
  const follower = scene.follow();
  await follower.start();
  await scene.say(alice, 'look');
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), 20_000);
  await scene.say(alice, 'and at this');
  await vi.waitFor(() => expect(scene.asked.count).toBe(2), 20_000);
  arrive();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(2), 20_000);
  await follower.close();
});

test('[HUB-W1] two agents that answer each other for ever are stopped by the budget, and the journal says so', async () => {
  let turn = 0;
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([
    {
      ...door,
      async deliver(target, doorRequest, signal) {
        const given = await door.deliver(target, doorRequest, signal);
        const who = target.agent_id === 'bob' ? bob : alice;
        await scene.call(who, 'read_messages', { thread_id: scene.thread_id });
        void scene.say(who, `and you? ${++turn}`);
        return given;
      },
    },
  ]);
  await scene.call(alice, 'heartbeat_session', { runtime: 'codex_cli', management_mode: 'managed' });
  const follower = scene.follow();
  await follower.start();
  await scene.say(alice, 'and you?');
  const over = async () => (await scene.wakes()).filter(({ skip }) => skip === 'budget');
  await vi.waitFor(async () => expect(await over()).toHaveLength(1), 20_000);
  await follower.close();
  // Three for each pair and hour, in either direction.
  expect(doorRequests).toHaveLength(6);
  const skipped = (await scene.journal()).filter(({ metadata }) => metadata?.['step'] === 'skipped');
  expect(skipped.map(({ body }) => body)).toEqual(['not woken: it was woken too often within the hour']);
});

test.each([
  ['muted', { mute: { targets: ['bob'] } }],
  ['paused', { pause: { on: true } }],
  ['ended', { done: true }],
] as const)('who is %s is left alone', async (reason, control) => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door]);
  await scene.say(ann, 'look');
  await scene.call(ann, 'control_thread', { thread_id: scene.thread_id, control });
  expect(await scene.trigger()).toMatchObject({ result: 'skipped', reason });
  expect(doorRequests).toEqual([]);
});

test('an agent that reports itself quiet, and a quiet hub, are left alone', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const quietHub = await openScene([door], { quiet: true });
  await quietHub.say(alice, 'look');
  expect(await quietHub.trigger()).toMatchObject({ result: 'skipped', reason: 'quiet' });
  const scene = await openScene([door]);
  await scene.say(alice, 'look');
  await scene.call(bob, 'update_agent_status', { status: 'busy', metadata: { quiet: true } });
  expect(await scene.trigger()).toMatchObject({ result: 'skipped', reason: 'quiet' });
  expect(doorRequests).toEqual([]);
});

test('who is left alone for a time is woken afterwards, for what it has not read by then, over a restart too', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door], { maxDeferMs: 0, expireMs: 0 });
  const hour = 3_600_000;
  await expect(scene.call(alice, 'set_quiet', { of_agent: 'bob', for_ms: hour })).rejects.toMatchObject({
    code: 'INSUFFICIENT_AUTHORITY',
  });
  await scene.call(bob, 'set_quiet', { of_agent: 'bob', for_ms: hour, reason: 'thinking' });
  await scene.say(alice, 'look');
  const deferred_until = new Date(scene.time.now + hour).toISOString();
  const held = { result: 'deferred', defer_reason: 'quiet', deferred_until };
  expect(await scene.trigger()).toMatchObject(held);
  await scene.restart();
  expect(await scene.trigger()).toMatchObject(held);
  expect(await scene.steps()).toEqual(['asked', 'deferred']);
  expect(doorRequests).toEqual([]);
  scene.time.now += hour;
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), 20_000);
  await vi.waitFor(async () => expect(await scene.steps()).toContain('delivered'), 20_000);
  expect(await scene.call(ann, 'list_quiet', {})).toMatchObject({ quiet: [] });

  await scene.call(ann, 'set_quiet', {});
  await scene.say(alice, 'look again');
  expect(await scene.trigger()).toMatchObject({ result: 'deferred', defer_reason: 'quiet' });
  await scene.call(bob, 'read_messages', { thread_id: scene.thread_id });
  await scene.call(ann, 'set_quiet', { quiet: false });
  await vi.waitFor(
    async () => expect((await scene.wakes()).map(({ state }) => state)).toContain('skipped'),
    20_000,
  );
  expect(doorRequests).toHaveLength(1);

  await scene.call(ann, 'set_quiet', { of_agent: 'bob' });
  await scene.say(alice, 'it burns');
  const insisted = await scene.trigger(ann, { force: true, audit: { reason: 'it burns' } });
  expect(insisted).toMatchObject({ result: 'delivered' });
  await scene.close();
});
