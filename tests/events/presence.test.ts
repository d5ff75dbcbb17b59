import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { type Participant, useHub } from '../harness/use-hub.ts';
import { bridgeFaces, eventsDriver, postEvent } from './events-driver.ts';

const scene = useHub();
const HOUR = 3_600_000;

describe.each(bridgeFaces)('over $name', (face) => {
  const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });

  async function presenceOf(who: Participant, thread_id: string, agent: string) {
    const { participants } = await who.ok('list_presence', { thread_id });
    return participants.find(({ agent_id }) => agent_id === agent);
  }

  // A thousand over one face; over the others so many that one of them would show.
  const many = face === bridgeFaces[0] ? 1_000 : 100;

  test('[BRIDGE-3] [BRIDGE-10] [C-BRIDGE-06] a thousand presences leave nothing in the log, and fade', async () => {
    const [alice, bob] = [as('alice'), as('bob')];
    const thread_id = await alice.thread('bob');
    expect(await presenceOf(bob, thread_id, 'alice')).toMatchObject({ state: 'offline', since: null });
    await scene.unchanged(async () => {
      const states = ['listening', 'thinking', 'typing', 'idle'] as const;
      for (let i = 0; i < many; i += 50)
        await Promise.all(
          Array.from({ length: 50 }, (_, j) =>
            alice.ok('set_presence', { thread_id, state: states[(i + j) % 4] ?? 'idle', ttl_ms: 1_000 }),
          ),
        );
      await alice.ok('set_presence', { thread_id, state: 'typing', ttl_ms: 1_000 });
    });
    expect(await presenceOf(bob, thread_id, 'alice')).toMatchObject({ state: 'typing' });
    expect((await bob.ok('get_thread', { thread_id })).last_seq).toBe(0);
    await expect
      .poll(async () => (await presenceOf(bob, thread_id, 'alice'))?.state, { timeout: 5_000, interval: 100 })
      .toBe('offline');
  });

  test('[BRIDGE-10] a presence that is said again keeps its beginning and lives on; offline ends it', async () => {
    const alice = as('alice');
    const thread_id = await alice.thread();
    const say = (state: 'listening' | 'offline') =>
      alice.ok('set_presence', { thread_id, state, ttl_ms: 1_000 });
    await say('listening');
    const since = (await presenceOf(alice, thread_id, 'alice'))?.since;
    for (let i = 0; i < 3; i++) {
      await sleep(500);
      await say('listening');
    }
    expect(await presenceOf(alice, thread_id, 'alice')).toMatchObject({ state: 'listening', since });
    await say('offline');
    expect(await presenceOf(alice, thread_id, 'alice')).toMatchObject({ state: 'offline', since: null });
  });

  test('[BRIDGE-10] transitions are written down when asked: thinking.start and thinking.end', async () => {
    const alice = as('alice');
    const thread_id = await alice.thread();
    const say = (state: string, persist = true) =>
      alice.ok('set_presence', { thread_id, state: state as 'idle', persist });
    expect((await say('listening', false)).seq).toBeUndefined();
    expect((await say('thinking')).seq).toBe(1);
    expect((await say('thinking')).seq).toBeUndefined();
    expect((await say('listening')).seq).toBe(2);
    expect((await say('offline')).seq).toBe(3);
    const { messages } = await alice.ok('read_messages', { thread_id });
    expect(messages.map(({ kind, body, metadata }) => [kind, body, metadata?.['state']])).toEqual([
      ['system', 'thinking.start', 'thinking'],
      ['system', 'thinking.end', 'listening'],
      ['system', 'offline', 'offline'],
    ]);
  });

  test('[BRIDGE-4] a profile goes with a presence and fades with it; on record it stays', async () => {
    const [user, alice] = [as('user', 'operator'), as('alice')];
    const thread_id = await user.thread('alice', 'constructor');
    const passing = { client: 'claude', model: 'opus', nickname: 'Al', roles: ['reviewer'] };
    await alice.ok('set_presence', { thread_id, state: 'listening', profile: passing, ttl_ms: 1_000 });
    expect((await presenceOf(user, thread_id, 'alice'))?.profile).toEqual(passing);
    expect((await user.ok('get_thread', { thread_id })).last_seq).toBe(0);
    const lasting = { client: 'claude', model: 'sonnet' };
    await alice.ok('control_thread', { thread_id, control: { profile: lasting } });
    await expect
      .poll(async () => (await presenceOf(user, thread_id, 'alice'))?.profile, {
        timeout: 5_000,
        interval: 100,
      })
      .toEqual(lasting);
    expect(await presenceOf(user, thread_id, 'constructor')).toEqual({
      agent_id: 'constructor',
      state: 'offline',
      since: null,
      muted: false,
    });
    await user.ok('control_thread', { thread_id, control: { profile: { nickname: 'boss' } } });
    const taken = { thread_id, state: 'listening', profile: { nickname: 'BOSS' } };
    await alice.refused('set_presence', taken, 'VALIDATION_ERROR');
    await alice.refused('set_presence', { ...taken, profile: { nickname: 'user' } }, 'VALIDATION_ERROR');
  });

  test('[BRIDGE-10] what is no presence is refused; who may only look may be present but writes nothing', async () => {
    const alice = as('alice');
    const thread_id = await alice.thread('watcher');
    for (const wrong of [
      { state: 'sleeping' },
      { state: 'idle', ttl_ms: 0 },
      { state: 'idle', ttl_ms: 1e9 },
      { state: 'idle', profile: { client: 5 } },
      {},
    ])
      await alice.refused('set_presence', { thread_id, ...wrong }, 'VALIDATION_ERROR');
    const watcher = as('watcher', 'observer');
    await watcher.ok('set_presence', { thread_id, state: 'listening' });
    await watcher.refused('set_presence', { thread_id, state: 'idle', persist: true }, 'FORBIDDEN');
    expect(await presenceOf(alice, thread_id, 'watcher')).toMatchObject({ state: 'listening' });
    await as('stranger').refused('set_presence', { thread_id, state: 'idle' }, 'FORBIDDEN');
  });
});

test.each([HOUR, -HOUR])(
  '[BRIDGE-10] [C-BRIDGE-07] a client’s clock that is %i ms off does not move its presence',
  async (off) => {
    const alice = scene.as('alice', { face: eventsDriver });
    const thread_id = await alice.thread();
    const ts = new Date(Date.now() + off).toISOString();
    const content = { state: 'thinking', ttl_ms: 1_500 };
    const { status, text } = await postEvent(scene.hub.url, alice.token, thread_id, {
      type: 'presence',
      ts,
      content,
    });
    expect(status).toBe(200);
    const { event, expires_at } = JSON.parse(text) as { event: { ts: string }; expires_at: string };
    for (const [moment, ms] of [
      [event.ts, 0],
      [expires_at, 1_500],
    ] as const)
      expect(Math.abs(Date.parse(moment) - ms - Date.now())).toBeLessThan(60_000);
    const state = async () => (await alice.ok('list_presence', { thread_id })).participants[0]?.state;
    expect(await state()).toBe('thinking');
    await expect.poll(state, { timeout: 5_000, interval: 100 }).toBe('offline');
  },
);
