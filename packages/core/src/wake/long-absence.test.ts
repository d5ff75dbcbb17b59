import { LIMITS } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

import { alice, ann, bob, caller, delivered, openScene, passing, scriptedDoor } from './sample-wakes.ts';

const PATIENT = 20_000;
const carol = caller('carol');

/** So many of these fill more pages than are looked through for what is unread. */
const LONG_WORDS = 'x'.repeat(60_000);
const MANY = 100;

function openDoor() {
  const door = { isOpen: true };
  const scripted = scriptedDoor(
    'supervisor',
    () => (door.isOpen ? { can: 'now' } : { can: 'no', reason: 'supervisor_not_connected' }),
    delivered,
  );
  return { ...scripted, state: door };
}

test('[HUB-M9] a call is brought however much its agent has said itself since it last read', async () => {
  const { door, doorRequests } = openDoor();
  const scene = await openScene([door]);
  for (let i = 0; i < MANY; i++) await scene.say(bob, LONG_WORDS);
  const follower = scene.follow();
  await follower.start();
  const { seq } = await scene.say(alice, 'and now?');
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), PATIENT);
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.state).toBe('delivered'), PATIENT);
  await follower.close();
  expect(await scene.wakes()).toMatchObject([{ by: 'alice', first_seq: seq, through_seq: seq }]);
  expect(doorRequests[0]?.prompt).toContain(`since_seq ${seq - 1}, `);
});

test('[HUB-M9] a second call is brought however much lies unread before it, and neither is told again', async () => {
  const { door, doorRequests } = openDoor();
  const scene = await openScene([door], {}, undefined, ['bob', 'carol']);
  for (let i = 0; i < MANY; i++) await scene.say(carol, LONG_WORDS);
  const follower = scene.follow();
  await follower.start();
  for (const [i, body] of ['@bob please look', '@bob and here'].entries()) {
    await scene.say(ann, body);
    await vi.waitFor(() => expect(doorRequests).toHaveLength(i + 1), PATIENT);
    await vi.waitFor(async () => expect((await scene.wakes())[i]?.state).toBe('delivered'), PATIENT);
  }
  await follower.close();
  const returns = scene.receive();
  scene.time.now += 3_600_000;
  await scene.beat();
  await returns.close();
  expect(doorRequests).toHaveLength(2);
});

test('[HUB-W7] who comes back is woken for a call that nothing could bring then, however much lies unread before it', async () => {
  const { door, doorRequests, state } = openDoor();
  const scene = await openScene([door], {}, undefined, ['bob', 'carol']);
  for (let i = 0; i < MANY; i++) await scene.say(carol, LONG_WORDS);
  state.isOpen = false;
  const follower = scene.follow();
  await follower.start();
  await scene.say(ann, '@bob please look');
  await vi.waitFor(async () => expect(await scene.steps()).toContain('failed'), PATIENT);
  await follower.close();
  state.isOpen = true;
  const returns = scene.receive();
  await scene.beat();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), PATIENT);
  await scene.beat('offline');
  await scene.beat();
  await returns.close();
  expect(doorRequests).toHaveLength(1);
});

test('[HUB-W7] a call is found behind a page of other messages, and behind a page of other threads', async () => {
  const { door, doorRequests } = openDoor();
  const scene = await openScene([door], {}, undefined, ['bob', 'carol']);
  for (let i = 0; i <= LIMITS.page_max; i++) await scene.say(carol, `word ${i}`);
  await scene.say(ann, '@bob please look');
  const participants = ['bob', 'carol'];
  for (let i = 0; i <= LIMITS.page_max; i++) {
    scene.time.now += 1_000;
    const made = await scene.call(alice, 'create_thread', { title: `thread ${i}`, participants });
    const { thread_id } = made as { thread_id: string };
    await scene.call(alice, 'post_message', { thread_id, schema_version: 1, body: 'to nobody' });
  }
  const returns = scene.receive();
  await scene.beat();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), PATIENT);
  await returns.close();
  expect(doorRequests[0]?.thread_id).toBe(scene.thread_id);
});

test('[HUB-W7] at one return an agent is woken for twenty threads, those that were spoken in last', async () => {
  const { door, doorRequests } = openDoor();
  const scene = await openScene([door], { pairPerHour: 1_000, targetPerHour: 1_000 });
  const threads: string[] = [];
  for (let i = 0; i < 25; i++) {
    scene.time.now += 1_000;
    const made = await scene.call(alice, 'create_thread', { title: `thread ${i}`, participants: ['bob'] });
    const { thread_id } = made as { thread_id: string };
    await scene.call(alice, 'post_message', { thread_id, schema_version: 1, body: 'look' });
    threads.unshift(thread_id);
  }
  const returns = scene.receive();
  await scene.beat();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(20), PATIENT);
  await returns.close();
  expect(doorRequests.map(({ thread_id }) => thread_id)).toEqual(threads.slice(0, 20));
});

test('[HUB-W7] nobody is looked for before what was under way goes on, and nothing is noted of a thread that is closed', async () => {
  const { door, doorRequests } = openDoor();
  const scene = await openScene([door]);
  await scene.say(alice, 'look');
  let returns = scene.receive({ isReady: false });
  await scene.beat();
  await passing(50);
  expect(doorRequests).toHaveLength(0);
  returns.start();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), PATIENT);
  await returns.close();

  await scene.say(alice, 'and again');
  const { thread_id } = scene;
  await scene.call(ann, 'update_thread_status', { thread_id, status: 'closed', reason: 'over' });
  returns = scene.receive();
  await scene.beat();
  await returns.close();
  expect(await scene.wakes()).toHaveLength(1);
});

test('[HUB-W7] who comes again while it is looked for is looked for once more', async () => {
  const { door, doorRequests } = openDoor();
  let looks = 0;
  // The first look finds no way to it, the second one does.
  const scene = await openScene([{ ...door, serves: () => ++looks > 1 }]);
  await scene.say(alice, 'look');
  const returns = scene.receive({ isReady: false });
  await scene.beat();
  await scene.beat('offline');
  await scene.beat();
  returns.start();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), PATIENT);
  await returns.close();
});

test('[C-WAKE-09] what was brought is not brought again though the clock was set back meanwhile', async () => {
  const { door, doorRequests } = openDoor();
  const scene = await openScene([door], { pairPerHour: 1_000, targetPerHour: 1_000 });
  for (let i = 1; i <= 8; i++) {
    await scene.say(alice, `word ${i}`);
    expect(await scene.trigger()).toMatchObject({ result: 'delivered' });
    scene.time.now -= 1_000;
    expect(await scene.trigger()).toMatchObject({ result: 'skipped', reason: 'already_woken' });
    expect(doorRequests).toHaveLength(i);
  }
});
