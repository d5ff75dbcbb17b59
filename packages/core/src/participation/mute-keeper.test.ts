import type { Caller } from '@parley/protocol';
import { expect, test } from 'vitest';

import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import { createMuteKeeper } from './mute-keeper.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const who = (agent_id: string, role: Caller['role'] = 'worker'): Caller => ({
  agent_id,
  workspace_id: 'w1',
  role,
  session_id: `${agent_id}-1`,
});
const [chief, bob] = [who('chief', 'operator'), who('bob')];

/** A thread of three in which the chief steers, and a clock to move. */
async function scene() {
  const clock = { now: START };
  const store = openMemoryStore();
  const sample = openSampleHub(store, clock);
  const { thread_id } = (await sample.call(chief, 'create_thread', {
    title: 't',
    participants: ['bob', 'carol'],
  })) as { thread_id: string };
  const control = (given: object) => sample.call(chief, 'control_thread', { thread_id, control: given });
  const thread = () => sample.call(chief, 'get_thread', { thread_id }) as Promise<Record<string, unknown>>;
  const say = () => sample.call(bob, 'post_message', { thread_id, schema_version: 1, body: 'x' });
  const passed = async (seconds: number): Promise<void> => {
    clock.now += seconds * 1_000;
    await sample.deps.mutes.settleAll();
  };
  return { clock, store, sample, thread_id, control, thread, say, passed };
}

test('a mute for a while ends by itself, on record under the name of the hub', async () => {
  const { control, thread, say, passed, sample, thread_id } = await scene();
  await control({ mute: { targets: ['bob'], for_seconds: 900 } });
  await control({ mute: { targets: ['carol'] } });
  expect(await thread()).toMatchObject({
    muted: ['bob', 'carol'],
    muted_until: { bob: new Date(START + 900_000).toISOString() },
  });
  await passed(899);
  await expect(say()).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await passed(1);
  await say();
  const after = await thread();
  expect(after).toMatchObject({ muted: ['carol'] });
  expect(after).not.toHaveProperty('muted_until');
  const { messages } = (await sample.call(chief, 'read_messages', {
    thread_id,
    since_seq: 0,
    limit: 50,
  })) as {
    messages: { sender_agent_id: string; body: string }[];
  };
  const ended = messages.filter(({ sender_agent_id }) => sender_agent_id === 'parley');
  expect(ended.map(({ body }) => body)).toEqual(['unmute bob: the time is up']);
  // Nothing is left to end: a later look writes nothing.
  const { last_seq } = await thread();
  await passed(10_000);
  expect((await thread())['last_seq']).toBe(last_seq);
});

test.each([
  ['the shorter one first', { bob: 60, carol: 600 }],
  ['the longer one first', { bob: 600, carol: 60 }],
])('of two mutes for a while each ends in its own time: %s', async (_order, seconds) => {
  const { control, thread, passed } = await scene();
  for (const [name, for_seconds] of Object.entries(seconds))
    await control({ mute: { targets: [name], for_seconds } });
  const [short, long] = seconds.bob < seconds.carol ? ['bob', 'carol'] : ['carol', 'bob'];
  await passed(59);
  expect((await thread())['muted']).toEqual(expect.arrayContaining([short, long]));
  await passed(1);
  const { muted, muted_until } = await thread();
  expect(muted).toEqual([long]);
  expect(muted_until).toEqual({ [long]: new Date(START + 600_000).toISOString() });
  await passed(539);
  expect((await thread())['muted']).toEqual([long]);
  await passed(1);
  expect(await thread()).not.toHaveProperty('muted');
});

test('the last word counts: a mute without an end, a longer one, an unmute', async () => {
  const { control, thread, passed } = await scene();
  await control({ mute: { targets: ['bob', 'carol'], for_seconds: 60 } });
  await control({ mute: { targets: ['bob'] } });
  await control({ mute: { targets: ['carol'], for_seconds: 600 } });
  await passed(60);
  expect(await thread()).toMatchObject({ muted: ['bob', 'carol'] });
  await control({ unmute: { targets: ['carol'] } });
  await control({ mute: { targets: ['carol'] } });
  await passed(600);
  expect(await thread()).toMatchObject({ muted: ['bob', 'carol'] });
});

test('what ran out while the hub was away ends when it starts again, in a closed thread too', async () => {
  const { clock, store, sample, thread_id, control, thread } = await scene();
  await control({ mute: { targets: ['bob'], for_seconds: 60 } });
  await sample.call(chief, 'update_thread_status', { thread_id, status: 'closed', reason: 'over' });
  sample.deps.mutes.close();
  clock.now += 3_600_000;
  const { log, clock: time, chance } = sample.deps;
  const again = createMuteKeeper(store, log, time, chance, (error) => {
    throw error;
  });
  await again.settleAll();
  expect(await thread()).not.toHaveProperty('muted');
  again.close();
});
