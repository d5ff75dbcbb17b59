import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { follow } from './event-stream.ts';
import { fakeClock } from '../harness/fake-clock.ts';
import { clientOf, createThread, ok, post, readAll, type StoredMessage } from './hub-client.ts';
import { expectSoundRecord } from './oracle.ts';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

describeWith(['libfaketime'], 'the wall clock', ({ libfaketime }) => {
  function expectOrdered(log: readonly StoredMessage[]): void {
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1));
    const ids = log.map(({ message_id }) => message_id);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    const times = log.map(({ created_at }) => Date.parse(created_at));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  }

  test('[C-DUR-11] [R2] the clock jumps an hour back, an hour on and a year back under writes: order, ids and times hold', async () => {
    const clock = fakeClock(libfaketime);
    const folder = temporaryFolder();
    const hub = await startHub(folder, { env: clock.env });
    const token = await tokenFor(folder, 'alice');
    const alice = clientOf(hub.url, 'alice', token);
    const thread = await createThread(alice);
    const follower = follow(() => hub.url, token, thread);
    onTestFinished(() => follower.close());
    for (const jump of [0, -HOUR, HOUR, -YEAR, 0]) {
      clock.move(jump);
      for (let i = 0; i < 20; i++)
        ok(await post(alice, thread, `${jump} ${i}`, `${jump} ${i} ${clock.now()}`));
    }
    const log = await readAll(alice, thread);
    expect(log).toHaveLength(100);
    expectOrdered(log);
    // The clock did jump: time stood still in the thread while it was behind.
    const times = log.map(({ created_at }) => Date.parse(created_at));
    expect(times[59]! - times[39]!).toBeGreaterThan(0.9 * HOUR);
    expect(new Set(times.slice(60, 80)).size).toBe(1);
    await expect.poll(() => follower.messages.length).toBe(100);
    expect(follower.opened).toBe(1);
    follower.close();
    await hub.end('SIGTERM');
    expectSoundRecord(folder);
  });

  test('[C-DUR-11] quotas and waiting go by the clock that never jumps', async () => {
    const clock = fakeClock(libfaketime);
    const folder = temporaryFolder();
    const settings = { 'quota.messages_burst': 5, 'quota.messages_per_minute': 1 };
    const hub = await startHub(folder, { env: clock.env, settings });
    const alice = clientOf(hub.url, 'alice', await tokenFor(folder, 'alice'));
    const thread = await createThread(alice);
    for (let i = 0; i < 5; i++) ok(await post(alice, thread, `${i}`));
    const wait = (timeout_ms: number) =>
      alice.call<{ timed_out: boolean }>('wait_for_messages', {
        thread_id: thread,
        since_seq: 5,
        timeout_ms,
      });
    for (const jump of [HOUR, -HOUR, -YEAR]) {
      const waiting = wait(1_500);
      const startedAt = performance.now();
      await sleep(100);
      clock.move(jump);
      expect(await post(alice, thread, 'one too many')).toMatchObject({ status: 429 });
      expect(ok(await waiting)).toMatchObject({ timed_out: true });
      expect(performance.now() - startedAt).toBeGreaterThan(1_400);
    }
  });

  test.each([
    ['1970', 24 * HOUR],
    ['2100', Date.parse('2100-01-01T00:00:00Z')],
  ])(
    '[C-DUR-12] started in %s and put right later, the hub keeps ids unique and in order',
    async (_year, start) => {
      const clock = fakeClock(libfaketime);
      clock.move(start - Date.now());
      const folder = temporaryFolder();
      const hub = await startHub(folder, { env: clock.env });
      const early = clientOf(hub.url, 'alice', await tokenFor(folder, 'alice', { now: clock.now() }));
      const thread = await createThread(early);
      for (let i = 0; i < 5; i++) ok(await post(early, thread, `wrong ${i}`, `wrong ${i}`));

      clock.move(0);
      const token = await tokenFor(folder, 'alice');
      const alice = clientOf(hub.url, 'alice', token);
      for (let i = 0; i < 5; i++) ok(await post(alice, thread, `right ${i}`, `right ${i}`));
      await hub.end('SIGKILL');

      const revived = clientOf((await startHub(folder)).url, 'alice', token);
      for (let i = 0; i < 5; i++) ok(await post(revived, thread, `again ${i}`, `again ${i}`));
      const log = await readAll(revived, thread);
      expect(log).toHaveLength(15);
      expectOrdered(log);
      expectSoundRecord(folder);
      const fresh = await createThread(revived);
      const { created_at } = ok(await post(revived, fresh, 'a new thread'));
      expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000);
    },
  );

  test('an ask that the clock has denied stays denied when the clock goes back, and agents keep their state', async () => {
    const clock = fakeClock(libfaketime);
    const folder = temporaryFolder();
    const hub = await startHub(folder, { env: clock.env });
    const agent = clientOf(hub.url, 'builder', await tokenFor(folder, 'builder'));
    const person = clientOf(hub.url, 'ann', await tokenFor(folder, 'ann', { role: 'operator' }));
    type Told = { ask: { ask_id: string; status: string; verdict?: { decision: string; by: string } } };
    const raised = ok(await agent.call<Told>('raise_ask', { prompt: 'May I?', expires_in_ms: HOUR / 2 }));
    const { ask_id } = raised.ask;
    ok(await agent.call('update_agent_status', { status: 'busy', metadata: { currentTask: 'the mapper' } }));
    const state = async () => {
      const { agents } = ok(await person.call<{ agents: Record<string, string>[] }>('list_agents', {}));
      return [agents[0]?.['state'], agents[0]?.['reason']];
    };
    expect(await state()).toEqual(['needs_you', 'May I?']);
    const waiting = agent.call<Told & { timed_out: boolean }>('wait_for_ask', { ask_id, timeout_ms: 20_000 });
    clock.move(HOUR);
    const denied = { status: 'resolved', verdict: { decision: 'denied', by: 'parley' } };
    expect(ok(await waiting)).toMatchObject({ timed_out: false, ask: denied });
    expect(await state()).toEqual(['offline', 'silent; no connection and no heartbeat']);
    clock.move(0);
    const late = await person.call<{ error: { code: string; details: Told } }>('answer_ask', {
      ask_id,
      decision: 'approved',
    });
    expect(late).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', details: { ask: denied } } },
    });
    expect(ok(await agent.call<Told>('get_ask', { ask_id })).ask).toMatchObject(denied);
    expect(await state()).toEqual(['working', 'the mapper']);
    await hub.end('SIGTERM');
    expectSoundRecord(folder);
  });
});
