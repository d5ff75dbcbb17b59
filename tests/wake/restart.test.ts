import { expect, onTestFinished, test } from 'vitest';

import { type CrashHub, startHub, temporaryFolder, tokenFor } from '../faults/crash-hub.ts';
import { clientOf, createThread, ok, post } from '../faults/hub-client.ts';
import { expectSoundRecord } from '../faults/oracle.ts';
import { fakeClock } from '../harness/fake-clock.ts';
import { describeWith } from '../tools/describe-with.ts';
import { openSupervisor } from './scripted-supervisor.ts';

const SETTINGS = { 'wake.recheck_ms': 50, 'wake.quiet_ms': 10_000, 'wake.max_defer_ms': 600_000 };

interface Woken {
  woken: { trigger_id: string; result: string; why?: string }[];
}

/** Alice has an unread message for bob, whose person types. */
async function typingScene(folder: string, hub: CrashHub) {
  const [alice, bob] = await Promise.all([tokenFor(folder, 'alice'), tokenFor(folder, 'bob')]);
  const caller = clientOf(hub.url, 'alice', alice);
  const thread_id = await createThread(caller, ['bob', 'bystander']);
  const { message_id } = ok(await post(caller, thread_id, 'look'));
  const supervisor = await openSupervisor(hub.url, bob, 0);
  onTestFinished(() => supervisor.close().catch(() => {}));
  const trigger = { thread_id, target_agent_id: 'bob' };
  const reported = ok(
    await caller.call<{ trigger_id: string; result: string }>('trigger_participant', trigger),
  );
  expect(reported.result).toBe('deferred');
  const woken = async (url = hub.url) => {
    const evidence = { thread_id, message_id };
    return ok(await clientOf(url, 'alice', alice).call<Woken>('get_message_evidence', evidence)).woken;
  };
  return { supervisor, bob, reported, woken };
}

test('[HUB-W7] [C-WAKE-16] the hub is killed while a wake waits: after the restart it waits on, then happens once, under the same id', async () => {
  const folder = temporaryFolder();
  const hub = await startHub(folder, { settings: SETTINGS });
  const { supervisor, bob, reported, woken } = await typingScene(folder, hub);
  await expect.poll(() => supervisor.looks, { timeout: 30_000 }).toBeGreaterThan(2);
  await hub.end('SIGKILL');
  await supervisor.close().catch(() => {});

  const again = await startHub(folder, { settings: SETTINGS });
  const next = await openSupervisor(again.url, bob, 0);
  onTestFinished(() => next.close().catch(() => {}));
  const result = async () =>
    (await woken(again.url)).map(({ trigger_id, result: word }) => [trigger_id, word]);
  await expect.poll(() => next.looks, { timeout: 30_000 }).toBeGreaterThan(2);
  expect(await result()).toEqual([[reported.trigger_id, 'deferred']]);
  expect(next.delivered).toEqual([]);
  next.humanIdleMs = 60_000;
  await expect.poll(() => next.delivered.length, { timeout: 30_000 }).toBe(1);
  expect(next.delivered).toMatchObject([{ delivery_id: `${reported.trigger_id}-1` }]);
  await expect.poll(result).toEqual([[reported.trigger_id, 'delivered']]);
  await again.end('SIGTERM');
  expectSoundRecord(folder);
});

describeWith(['libfaketime'], 'the wall clock jumps while a wake waits', ({ libfaketime }) => {
  test.each([
    ['[C-WAKE-17] an hour on: that is no hour of waiting', 3_600],
    ['[C-WAKE-18] an hour back: it still looks again and is delivered as usual', -3_600],
  ])('%s', async (_name, seconds) => {
    const folder = temporaryFolder();
    const { move, env } = fakeClock(libfaketime);
    const hub = await startHub(folder, { settings: SETTINGS, env });
    const { supervisor, reported, woken } = await typingScene(folder, hub);
    move(seconds * 1_000);
    const { looks } = supervisor;
    await expect.poll(() => supervisor.looks, { timeout: 30_000 }).toBeGreaterThan(looks + 4);
    expect(await woken()).toMatchObject([{ result: 'deferred', why: 'human_input_busy' }]);
    expect(supervisor.delivered).toEqual([]);
    supervisor.humanIdleMs = 10_000;
    await expect.poll(() => supervisor.delivered.length, { timeout: 30_000 }).toBe(1);
    await expect
      .poll(async () => (await woken())[0])
      .toMatchObject({ trigger_id: reported.trigger_id, result: 'delivered' });
  });
});
