import { expect, test, vi } from 'vitest';

import { createArrivals } from './arrivals.ts';
import { alice, ann, bob, delivered, openScene, passing, scriptedDoor } from './sample-wakes.ts';

const PATIENT = 10_000;

test('[HUB-W7] who comes is woken once for calls that came while nobody was there, and not for what was read or delivered', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door], {}, undefined, ['bob', 'carol']);
  await scene.say(ann, 'to nobody in particular');
  let returns = scene.receive();
  await scene.beat();
  await returns.close();
  expect(doorRequests).toHaveLength(0);

  await scene.say(ann, '@bob please look');
  returns = scene.receive();
  await scene.beat();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), PATIENT);
  // It goes on beating, falls silent and comes back, takes leave and comes back: it has been told.
  await scene.beat();
  scene.time.now += 600_000;
  await scene.beat();
  await scene.beat('offline');
  await scene.beat();
  await returns.close();
  expect(doorRequests).toHaveLength(1);

  await scene.say(ann, '@bob and this?');
  await scene.call(bob, 'read_messages', { thread_id: scene.thread_id });
  returns = scene.receive();
  await scene.beat();
  await returns.close();
  expect(doorRequests).toHaveLength(1);

  await scene.say(ann, '@bob the last');
  await scene.say(alice, 'beside it');
  returns = scene.receive();
  await scene.beat();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(2), PATIENT);
  await returns.close();
  expect(await scene.wakes()).toMatchObject([
    { by: 'ann', reason: 'called_upon' },
    { by: 'ann', reason: 'called_upon' },
  ]);
});

test('a call for which no door was open then is brought when its agent comes', async () => {
  let isOpen = false;
  const { door, doorRequests } = scriptedDoor(
    'supervisor',
    () => (isOpen ? { can: 'now' } : { can: 'no', reason: 'supervisor_not_connected' }),
    delivered,
  );
  const scene = await openScene([door]);
  const follower = scene.follow();
  await follower.start();
  await scene.say(ann, '@bob please look');
  await vi.waitFor(async () => expect(await scene.steps()).toContain('failed'), PATIENT);
  await follower.close();
  isOpen = true;
  const returns = scene.receive();
  await scene.beat();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), PATIENT);
  await returns.close();
});

test('nobody is looked for before what was under way goes on, nor in a thread that is closed or paused', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door]);
  await scene.say(ann, '@bob please look');
  const { thread_id } = scene;
  await scene.call(ann, 'control_thread', { thread_id, control: { pause: { on: true } } });
  const returns = scene.receive();
  await scene.beat();
  await returns.close();
  expect(doorRequests).toHaveLength(0);
});

test('the grace is for those who might read by themselves', async () => {
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const unmanaged = scriptedDoor('command', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door, unmanaged.door]);
  const hour = 3_600_000;
  let listens = false;
  const asked: boolean[] = [];
  const hears = (): boolean => {
    asked.push(listens);
    return listens;
  };
  let follower = scene.follow({ graceMs: hour, hears });
  await follower.start();
  // Nothing listens and nobody is at work: at once.
  await scene.say(ann, '@bob one');
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), PATIENT);
  listens = true;
  await scene.say(ann, '@bob two');
  await vi.waitFor(() => expect(asked).toEqual([false, true]), PATIENT);
  await passing(50);
  await scene.call(bob, 'read_messages', { thread_id: scene.thread_id });
  await follower.close();
  expect(doorRequests).toHaveLength(1);

  // At work where no door can see it; of somebody else the hub knows that it can be woken.
  await scene.call(alice, 'heartbeat_session', { runtime: 'codex_cli', management_mode: 'managed' });
  await scene.call(bob, 'heartbeat_session', { runtime: 'codex_cli', status: 'active' });
  follower = scene.follow({ graceMs: hour });
  await follower.start();
  await scene.say(ann, '@bob three');
  await passing(200);
  expect(unmanaged.doorRequests).toHaveLength(0);
  await scene.call(bob, 'heartbeat_session', { runtime: 'codex_cli', status: 'idle' });
  await follower.close();
  follower = scene.follow({ graceMs: hour });
  await follower.start();
  await vi.waitFor(() => expect(unmanaged.doorRequests).toHaveLength(1), PATIENT);
  await follower.close();
});

test('one who follows a thread is heard to listen, for as long as it does', async () => {
  const scene = await openScene([]);
  const { thread_id, log } = scene;
  const hears = (): boolean => log.hears('w', 'bob', thread_id);
  expect(hears()).toBe(false);
  const leaving = new AbortController();
  const waiting = scene.call(
    bob,
    'wait_for_messages',
    { thread_id, since_seq: 0, timeout_ms: 60_000 },
    leaving.signal,
  );
  await vi.waitFor(() => expect(hears()).toBe(true), PATIENT);
  expect(log.hears('w', 'alice', thread_id)).toBe(false);
  leaving.abort();
  await waiting.catch(() => {});
  expect(hears()).toBe(false);
});

test('trigger_participant answers within its timeout, with the doors that were passed by so far', async () => {
  const shut = scriptedDoor('managed', () => ({ can: 'no', reason: 'no_session' }), delivered);
  let finish = (): void => {};
  const slow = scriptedDoor(
    'supervisor',
    () => ({ can: 'now' }),
    async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return delivered();
    },
  );
  const scene = await openScene([shut.door, slow.door]);
  await scene.say(alice, 'look');
  expect(await scene.trigger(alice, { timeout_ms: 50 })).toMatchObject({
    result: 'delivering',
    door: 'supervisor',
    passed: [{ door: 'managed', reason: 'no_session' }],
  });
  finish();
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.state).toBe('delivered'), PATIENT);
  await scene.close();
});

test('a door that takes nothing now is passed by for the next; with none left it is waited at, and not for ever', async () => {
  const look = { can: 'perhaps', reason: 'no_prompt: less takes no pasted text' } as const;
  const shut = scriptedDoor('supervisor', () => look, delivered);
  const other = scriptedDoor('command', () => ({ can: 'now' }), delivered);
  const scene = await openScene([shut.door, other.door]);
  await scene.say(alice, 'look');
  expect(await scene.trigger()).toMatchObject({ result: 'delivered', door: 'command' });

  const alone = await openScene([shut.door], { maxDeferMs: 200 });
  await alone.say(alice, 'look');
  const reported = await alone.trigger();
  expect(reported).toMatchObject({ result: 'deferred', door: 'supervisor', defer_reason: look.reason });
  const until = Date.parse(String(reported['deferred_until'])) - alone.time.now;
  expect(until).toBeLessThanOrEqual(200);
  await vi.waitFor(async () => expect((await alone.steps()).at(-1)).toBe('failed'), PATIENT);
  const [wake] = await alone.wakes();
  expect(wake).toMatchObject({ code: 'WAKE_FAILED' });
  expect(wake?.passed).toContainEqual({ door: 'supervisor', reason: look.reason });
  expect(shut.doorRequests).toHaveLength(0);
});

test('a session has come when it was not there before, not when it goes on', () => {
  const came: string[] = [];
  let now = 0;
  const arrivals = createArrivals({ monotonic: () => now, silentMs: 100 });
  arrivals.watch(({ session_id }) => came.push(session_id));
  const who = (session_id: string) => ({ workspace_id: 'w', agent_id: 'bob', session_id });
  arrivals.heard(who('new'));
  arrivals.heard(who('new'));
  arrivals.heard(who('new'), { native: 'now it is known' });
  arrivals.heard(who('new'), { native: 'now it is known' });
  now = 200;
  arrivals.heard(who('new'));
  arrivals.heard(who('new'), { gone: true });
  arrivals.heard(who('new'));
  arrivals.heard(who('leaves'), { gone: true });
  arrivals.connected(who('linked'));
  expect(came).toEqual(['new', 'new', 'new', 'new', 'linked']);
});
