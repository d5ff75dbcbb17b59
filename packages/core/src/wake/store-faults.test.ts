import { ParleyError } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

import type { Store } from '../store.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Delivery } from './door.ts';
import { alice, bob, delivered, openScene, passing, scriptedDoor } from './sample-wakes.ts';

const refusal = (): ParleyError => new ParleyError('UNAVAILABLE', 'the disk is full; nothing was written');
const SOON = { timeout: 8_000 };

type Fault = 'refused' | 'written but not answered';

/** A store that fails at the step of a wake that the test names, or cannot be read after it. */
function openFaultyStore() {
  const store = openMemoryStore();
  const faults: { step: string; how: Fault }[] = [];
  let unreadableAfter = '';
  let unreadable = 0;
  const faulty: Store = {
    ...store,
    async transact(command) {
      const step = command.type === 'note_wake' ? command.step?.facts['step'] : undefined;
      if (step === unreadableAfter) unreadable = 2;
      const i = faults.findIndex((fault) => fault.step === step);
      if (i < 0) return store.transact(command);
      const [{ how } = { how: 'refused' }] = faults.splice(i, 1);
      if (how === 'written but not answered') await store.transact(command);
      throw refusal();
    },
    async page(query) {
      if (unreadable > 0 && unreadable-- > 0) throw refusal();
      return store.page(query);
    },
  };
  return {
    store: faulty,
    failAt: (step: string, how: Fault = 'refused') => void faults.push({ step, how }),
    failReadsAfter: (step: string) => void (unreadableAfter = step),
    left: () => faults.length + unreadable,
  };
}

async function open(give: () => Promise<Delivery> = delivered) {
  const disk = openFaultyStore();
  const runtime = scriptedDoor('supervisor', () => ({ can: 'now' }), give);
  const scene = await openScene([runtime.door], {}, disk.store);
  const state = async () => (await scene.wakes()).map((wake) => wake.state);
  return { disk, runtime, scene, state };
}

test.concurrent.each(['refused', 'written but not answered'] as const)(
  '[HUB-W7] a delivery whose beginning was %s is begun once it takes it, and given once',
  async (how) => {
    const { disk, runtime, scene, state } = await open();
    await scene.say(alice, 'look');
    disk.failAt('delivering', how);
    await expect(scene.trigger()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(runtime.doorRequests).toEqual([]);
    await vi.waitFor(async () => expect(await state()).toEqual(['delivered']), SOON);
    expect(runtime.doorRequests).toMatchObject([{ attempt: 1, again: false }]);
    expect(disk.left()).toBe(0);
  },
);

test.concurrent.each(['refused', 'written but not answered'] as const)(
  '[HUB-W7] a delivery whose end was %s goes on record, and is not given again',
  async (how) => {
    const { disk, runtime, scene, state } = await open();
    await scene.say(alice, 'look');
    disk.failAt('delivered', how);
    await expect(scene.trigger()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await vi.waitFor(async () => expect(await state()).toEqual(['delivered']), SOON);
    // Until it is on record for sure, whoever asks joins it.
    const again = { result: 'skipped', reason: 'already_woken' };
    await vi.waitFor(async () => expect(await scene.trigger()).toMatchObject(again), SOON);
    expect((await scene.steps())[2]).toBe('delivered');
    expect(runtime.doorRequests).toHaveLength(1);
    expect(disk.left()).toBe(0);
  },
);

test.concurrent('the end of a turn that the store refuses goes on record later', async () => {
  const ended = Promise.resolve({ ok: true, detail: '' });
  const { disk, scene, state } = await open(async () => ({ ...(await delivered()), ended }) as Delivery);
  await scene.say(alice, 'look');
  disk.failAt('ended');
  expect(await scene.trigger()).toMatchObject({ result: 'delivered' });
  await vi.waitFor(async () => expect(await state()).toEqual(['delivered']), SOON);
  expect((await scene.steps()).at(-1)).toBe('ended');
});

test.concurrent.each(['refused', 'written but not answered'] as const)(
  '[HUB-M9] a call whose wake was %s is not passed by, and is woken for once',
  async (how) => {
    const { disk, runtime, scene, state } = await open();
    const follower = scene.follow();
    await follower.start();
    disk.failAt('asked', how);
    await scene.call(alice, 'post_message', {
      thread_id: scene.thread_id,
      schema_version: 1,
      body: 'look',
      to: 'bob',
    });
    await vi.waitFor(async () => expect(await state()).toEqual(['delivered']), SOON);
    expect(runtime.doorRequests).toHaveLength(1);
    expect((await scene.steps()).filter((step) => step === 'asked')).toHaveLength(1);
    await follower.close();
  },
);

test.concurrent('[HUB-M9] a call that came while its target was being woken is not lost when the store fails after that', async () => {
  let give = (_delivery: Delivery): void => {};
  const { disk, runtime, scene } = await open(() => new Promise((resolve) => (give = resolve)));
  const follower = scene.follow();
  await follower.start();
  const say = (body: string) =>
    scene.call(alice, 'post_message', { thread_id: scene.thread_id, schema_version: 1, body, to: 'bob' });
  await say('look');
  await vi.waitFor(() => expect(runtime.doorRequests).toHaveLength(1), SOON);
  await say('and here');
  await vi.waitFor(() => expect(scene.asked.count).toBe(2), SOON);
  disk.failAt('asked');
  give(await delivered());
  await vi.waitFor(() => expect(runtime.doorRequests).toHaveLength(2), SOON);
  give(await delivered());
  expect(runtime.doorRequests[1]).toMatchObject({ again: false });
  await follower.close();
});

test.concurrent('who asks for a wake and hears that nobody knows whether it is on record finds it under way, or can ask again', async () => {
  const { disk, runtime, scene, state } = await open();
  await scene.say(alice, 'look');
  disk.failAt('asked', 'refused');
  await expect(scene.trigger()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await vi.waitFor(async () => expect(await scene.trigger()).toMatchObject({ result: 'delivered' }), SOON);
  expect(runtime.doorRequests).toHaveLength(1);
  await scene.say(alice, 'and here');
  disk.failAt('asked', 'written but not answered');
  await expect(scene.trigger()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await vi.waitFor(async () => expect(await state()).toEqual(['delivered', 'delivered']), SOON);
  expect(runtime.doorRequests).toHaveLength(2);
});

test.concurrent('[HUB-W7] what was given and not shown to have come is asked for at its own door before another is tried', async () => {
  const silent = scriptedDoor(
    'supervisor',
    () => ({ can: 'now' }),
    async ({ again }): Promise<Delivery> =>
      again
        ? { came: 'delivered', proof: 'runtime_record' }
        : { came: 'failed', reason: 'no_proof_in_time', mayHaveCome: true },
  );
  const other = scriptedDoor('command', () => ({ can: 'now' }), delivered);
  const scene = await openScene([silent.door, other.door]);
  await scene.say(alice, 'look');
  expect(await scene.trigger()).toMatchObject({ result: 'deferred', defer_reason: 'in_doubt' });
  await vi.waitFor(
    async () => expect((await scene.wakes())[0]).toMatchObject({ proof: 'runtime_record' }),
    SOON,
  );
  const [first] = silent.doorRequests;
  expect(silent.doorRequests).toEqual([first, { ...first, again: true }]);
  expect(other.doorRequests).toEqual([]);
});

test.concurrent('a door that twice shows nothing is passed by, unless its target has read it meanwhile', async () => {
  const nothing = async (): Promise<Delivery> => ({
    came: 'failed',
    reason: 'no_proof_in_time',
    mayHaveCome: true,
  });
  const silent = scriptedDoor('supervisor', () => ({ can: 'now' }), nothing);
  const other = scriptedDoor('command', () => ({ can: 'now' }), delivered);
  const scene = await openScene([silent.door, other.door]);
  await scene.say(alice, 'look');
  await scene.trigger();
  await vi.waitFor(async () => expect((await scene.wakes())[0]).toMatchObject({ door: 'command' }), SOON);
  expect([silent.doorRequests.length, other.doorRequests.length]).toEqual([2, 1]);
  const { seq } = await scene.say(alice, 'and here');
  await scene.trigger();
  await scene.call(bob, 'ack_read', { thread_id: scene.thread_id, last_read_seq: seq });
  await vi.waitFor(async () => expect((await scene.wakes()).at(-1)?.state).toBe('delivered'), SOON);
});

test.concurrent('[HUB-W7] a store that cannot be read is waited for', async () => {
  const { disk, runtime, scene, state } = await open();
  await scene.say(alice, 'look');
  disk.failReadsAfter('asked');
  await expect(scene.trigger()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await vi.waitFor(async () => expect(await state()).toEqual(['delivered']), SOON);
  expect(runtime.doorRequests).toHaveLength(1);
  expect(disk.left()).toBe(0);
});

test.concurrent('[HUB-W7] who comes while the store cannot be read is looked for once it can, and need not come again', async () => {
  const store = openMemoryStore();
  let isAway = false;
  const away: Store = {
    ...store,
    async records(query) {
      if (isAway) throw refusal();
      return store.records(query);
    },
  };
  const { door, doorRequests } = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  const scene = await openScene([door], {}, away);
  await scene.say(alice, 'look');
  const returns = scene.receive();
  isAway = true;
  scene.arrive(bob);
  await passing(100);
  expect(doorRequests).toEqual([]);
  isAway = false;
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), SOON);
  await returns.close();
});

test.concurrent('[HUB-W7] a waker that has lost its lease leaves its wakes, and goes on with them at once when it has it again', async () => {
  const store = openMemoryStore();
  let isOurs = true;
  const leased: Store = {
    ...store,
    async transact(command) {
      if (!isOurs && command.type === 'note_wake') throw refusal();
      return store.transact(command);
    },
  };
  let isIdle = false;
  const { door, doorRequests } = scriptedDoor(
    'supervisor',
    () => (isIdle ? { can: 'now' } : { can: 'later', reason: 'working' }),
    delivered,
  );
  const scene = await openScene([door], {}, leased);
  await scene.say(alice, 'look');
  expect(await scene.trigger()).toMatchObject({ result: 'deferred' });
  isOurs = false;
  isIdle = true;
  // It fails again and again, and rests longer each time.
  await passing(2_500);
  await scene.stop();
  isOurs = true;
  await scene.start();
  await vi.waitFor(() => expect(doorRequests).toHaveLength(1), { timeout: 500 });
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.state).toBe('delivered'), SOON);
  await passing(4_500);
  expect(doorRequests).toHaveLength(1);
});
