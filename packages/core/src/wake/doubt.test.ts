import { expect, test, vi } from 'vitest';

import type { Delivery, Door } from './door.ts';
import { alice, bob, delivered, openScene, scriptedDoor } from './sample-wakes.ts';

const never = (): Promise<Delivery> => new Promise(() => {});

/** A wake that the hub was in the midst of when it stopped. */
async function openStopped(settings: Parameters<typeof openScene>[1]) {
  const stuck = scriptedDoor('supervisor', () => ({ can: 'now' }), never);
  const scene = await openScene([stuck.door], settings);
  const made = await scene.call(alice, 'create_thread', { title: 'elsewhere', participants: ['bob'] });
  const { thread_id: elsewhere } = made as { thread_id: string };
  await scene.call(alice, 'post_message', { thread_id: elsewhere, schema_version: 1, body: 'look' });
  scene.time.now += 60_000;
  const { seq } = await scene.say(alice, 'look');
  void scene.trigger().catch(() => {});
  await vi.waitFor(() => expect(stuck.doorRequests).toHaveLength(1), 5_000);
  return { scene, stuck, seq, elsewhere };
}

const away = (door: Door): Door => ({ ...door, serves: () => false });

test('[HUB-W7] what may have come is asked for at its own door: the same words, the same attempt, and no newer messages', async () => {
  const { scene, stuck } = await openStopped({});
  const { say } = scene;
  await say(alice, 'and at this');
  const back = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  await scene.restart([back.door]);
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.state).toBe('delivered'), 5_000);
  const [first] = stuck.doorRequests;
  expect(first).toMatchObject({ again: false, attempt: 1 });
  expect(back.doorRequests).toEqual([{ ...first, again: true }]);
  expect((await scene.wakes())[0]).toMatchObject({ through_seq: 1, tries: 1, stops: 1 });
  expect((await scene.wakes())[0]).not.toHaveProperty('prompt');
});

test('[HUB-W7] a door that is not back is waited for; only when it stays away another is tried', async () => {
  const { scene, stuck } = await openStopped({ returnMs: 400 });
  const other = scriptedDoor('command', () => ({ can: 'now' }), delivered);
  const restartedAt = performance.now();
  await scene.restart([away(stuck.door), other.door]);
  await vi.waitFor(
    async () =>
      expect((await scene.wakes())[0]).toMatchObject({ state: 'deferred', defer_reason: 'in_doubt' }),
    5_000,
  );
  await vi.waitFor(() => expect(other.doorRequests).toHaveLength(1), 5_000);
  expect(performance.now() - restartedAt).toBeGreaterThanOrEqual(400);
  expect(other.doorRequests[0]).toMatchObject({ again: false, attempt: 2 });
});

test('[HUB-W7] with no other door it waits for its own, and a cursor that moved is the proof', async () => {
  const { scene, stuck, seq } = await openStopped({});
  await scene.restart([away(stuck.door)]);
  const wake = async () => (await scene.wakes())[0];
  await vi.waitFor(async () => expect(await wake()).toMatchObject({ defer_reason: 'in_doubt' }), 5_000);
  // The doubt outlives another restart.
  await scene.restart([away(stuck.door)]);
  expect(await wake()).toMatchObject({ state: 'deferred', doubt: 'supervisor' });
  await scene.call(bob, 'ack_read', { thread_id: scene.thread_id, last_read_seq: seq });
  await vi.waitFor(
    async () => expect(await wake()).toMatchObject({ state: 'delivered', proof: 'cursor' }),
    5_000,
  );
  expect(stuck.doorRequests).toHaveLength(1);
});

test('[HUB-W7] what stays in doubt after two stops is on record and not repeated to whoever comes back; a new message calls', async () => {
  const { scene, stuck, elsewhere } = await openStopped({});
  await scene.restart();
  await vi.waitFor(() => expect(stuck.doorRequests).toHaveLength(2), 5_000);
  const fine = scriptedDoor('supervisor', () => ({ can: 'now' }), delivered);
  await scene.restart([fine.door]);
  await vi.waitFor(async () => expect((await scene.wakes())[0]?.state).toBe('failed'), 5_000);
  expect((await scene.journal()).at(-1)?.body).toContain('the hub stopped twice');
  const returns = scene.receive();
  await scene.beat();
  // What was said elsewhere, and longer ago, is looked at last.
  await vi.waitFor(() => expect(fine.doorRequests).not.toEqual([]), 5_000);
  await returns.close();
  expect(fine.doorRequests.map(({ thread_id }) => thread_id)).toEqual([elsewhere]);
  await scene.say(alice, 'and now?');
  expect(await scene.trigger()).toMatchObject({ result: 'delivered' });
});

test('a turn that ended with the hub is begun anew, as another attempt', async () => {
  const stuck = scriptedDoor('supervisor', () => ({ can: 'now' }), never);
  const scene = await openScene([{ ...stuck.door, endsWithHub: true }]);
  await scene.say(alice, 'look');
  void scene.trigger().catch(() => {});
  await vi.waitFor(() => expect(stuck.doorRequests).toHaveLength(1), 5_000);
  await scene.restart();
  await vi.waitFor(() => expect(stuck.doorRequests).toHaveLength(2), 5_000);
  expect(stuck.doorRequests.map(({ attempt, again }) => [attempt, again])).toEqual([
    [1, false],
    [2, false],
  ]);
});
