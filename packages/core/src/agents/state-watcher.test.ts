import type { Caller, OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { createFeed } from '../feed.ts';
import { createLog } from '../log.ts';
import { agentsTopic } from '../live/live.ts';
import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import { createStateWatcher } from './state-watcher.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const DAY_MS = 86_400_000;
const who = (agent_id: string, role: Caller['role'] = 'worker', workspace_id = 'w1'): Caller => ({
  agent_id,
  workspace_id,
  role,
  session_id: `${agent_id}-1`,
});
const chief = who('chief', 'operator');

function scene() {
  const clock = { now: START };
  const feed = createFeed();
  const { deps, call } = openSampleHub(openMemoryStore(), clock, feed);
  const writes: string[] = [];
  const { store } = deps;
  const log = createLog(store, feed, ({ type, caller }) => {
    if (type === 'note_agent_states') writes.push(caller.workspace_id);
  });
  const watcher = (ranUntil?: number) =>
    createStateWatcher({
      ...deps,
      log,
      keepMs: 2 * DAY_MS,
      ranUntil,
      onFault: (error) => {
        throw error;
      },
    });
  return {
    clock,
    deps,
    feed,
    call,
    writes,
    watcher,
    pass: (seconds: number) => void (clock.now += seconds * 1_000),
    beat: (name: string, status: 'active' | 'idle' | 'offline') =>
      call(who(name), 'heartbeat_session', { runtime: 'codex', status }),
    history: async (name: string, caller = chief, window = {}) => {
      const answer = (await call(caller, 'list_agent_states', {
        of_agent: name,
        ...window,
      })) as OutputOf<'list_agent_states'>;
      return answer.agents.flatMap(({ stretches }) => stretches);
    },
    told: async (name: string): Promise<string[]> => {
      const answer = (await call(chief, 'list_agent_states', {
        of_agent: name,
        since: new Date(0).toISOString(),
      })) as OutputOf<'list_agent_states'>;
      const second = (moment: string | null) => (moment === null ? '' : (Date.parse(moment) - START) / 1_000);
      return answer.agents.flatMap(({ stretches }) =>
        stretches.map(({ state, since, until }) => `${state} ${second(since)}-${second(until)}`),
      );
    },
  };
}

test('what an agent was at is written when it changes, and not with its heartbeats', async () => {
  const { watcher, beat, pass, told, writes } = scene();
  const states = watcher();
  await beat('bob', 'active');
  await states.look(['w1']);
  for (let i = 0; i < 20; i++) {
    pass(10);
    await beat('bob', 'active');
    await states.look();
  }
  expect(writes).toHaveLength(1);
  pass(10);
  await beat('bob', 'idle');
  await states.look();
  // Nothing is heard any more.
  for (let i = 0; i < 13; i++) {
    pass(10);
    await states.look();
  }
  expect(await told('bob')).toEqual(['working 0-210', 'idle 210-330', 'offline 330-']);
  expect(writes).toHaveLength(3);
});

test('an ask tells whom the agent waited for, to those who may see it', async () => {
  const { watcher, beat, call, pass, history } = scene();
  const states = watcher();
  await beat('bob', 'active');
  await states.look(['w1']);
  pass(5);
  const ask = (await call(who('bob'), 'raise_ask', {
    kind: 'approval',
    prompt: 'May I?',
    command: 'rm -rf build',
    idempotency_key: 'one',
  })) as OutputOf<'raise_ask'>;
  pass(1);
  await states.look();
  const asked = (await history('bob')).at(-1);
  expect(asked).toMatchObject({
    state: 'needs_you',
    reason: 'asks to run: rm -rf build',
    since: new Date(START + 5_000).toISOString(),
    until: null,
    waits_for: { what: 'answer', ask_id: ask.ask.ask_id },
  });
  expect((await history('bob', who('bob'))).at(-1)).toEqual(asked);
  expect((await history('bob', who('carl'))).at(-1)).toMatchObject({
    reason: 'waits for a person',
    waits_for: { what: 'answer' },
  });
  expect(JSON.stringify(await history('bob', who('carl')))).not.toMatch(/rm -rf|ask_/);
  expect(await history('bob', who('chief', 'operator', 'w2'))).toEqual([]);
});

test('what an agent failed with in a thread is told to those who may read it there', async () => {
  const { watcher, call, history } = scene();
  const states = watcher();
  const { thread_id } = (await call(who('bob'), 'create_thread', { title: 't' })) as { thread_id: string };
  await call(who('bob'), 'report_event', {
    event_type: 'error',
    thread_id,
    data: { message: 'no such key' },
  });
  await states.look(['w1']);
  expect((await history('bob')).at(-1)).toMatchObject({ state: 'error', reason: 'no such key', thread_id });
  const others = (await history('bob', who('carl'))).at(-1);
  expect(others).toMatchObject({ state: 'error', reason: 'failed in a thread' });
  expect(others).not.toHaveProperty('thread_id');
});

test('the rate limit that an agent waits for is told with its end', async () => {
  const { watcher, call, history } = scene();
  const until = new Date(START + 900_000).toISOString();
  await call(who('bob'), 'update_agent_status', { status: 'online', metadata: { rateLimitedUntil: until } });
  await watcher().look(['w1']);
  expect((await history('bob')).at(-1)).toMatchObject({
    state: 'stuck',
    waits_for: { what: 'rate_limit', until },
  });
});

test('a hub that comes up goes on where the one before it stopped, and tells nothing of the time between', async () => {
  const { watcher, beat, pass, told } = scene();
  await beat('bob', 'idle');
  await watcher().look(['w1']);
  pass(100);
  await beat('bob', 'idle');
  const stopped = START + 100_000;
  pass(50);
  await beat('bob', 'idle');
  const next = watcher(stopped);
  await next.start();
  await expect.poll(() => told('bob'), { timeout: 5_000 }).toEqual(['idle 0-100', 'idle 150-']);
  await next.close();
});

test('one that is taken off the list is at nothing any more, and what it was at stays', async () => {
  const { watcher, beat, call, pass, told } = scene();
  const states = watcher();
  await beat('bob', 'offline');
  await states.look(['w1']);
  pass(20);
  await call(chief, 'forget_agent', { of_agent: 'bob' });
  await states.look();
  expect(await told('bob')).toEqual(['offline 0-20']);
});

test('what ended before the time that is kept is forgotten; what goes on stays', async () => {
  const { watcher, beat, pass, told } = scene();
  const states = watcher();
  await beat('bob', 'active');
  await states.look(['w1']);
  pass(60);
  await beat('bob', 'offline');
  await states.look();
  pass(2 * 86_400 - 1);
  await states.sweep();
  expect(await told('bob')).toHaveLength(2);
  pass(2);
  await states.sweep();
  expect(await told('bob')).toEqual(['offline 60-']);
});

test('a ring brings the look; one without is looked at from time to time', async () => {
  const { watcher, beat, feed, told } = scene();
  const states = watcher();
  await states.start();
  await beat('bob', 'active');
  feed.ring(agentsTopic('w1'));
  await expect.poll(() => told('bob'), { timeout: 5_000 }).toEqual(['working 0-']);
  await states.close();
});

test('a page holds the window that was asked for, agent by agent, and says where more is', async () => {
  const { watcher, beat, call, pass, history } = scene();
  const states = watcher();
  for (const name of ['ann', 'bob', 'carl']) await beat(name, 'active');
  await states.look(['w1']);
  for (let i = 1; i <= 250; i++) {
    pass(10);
    await beat('bob', i % 2 === 0 ? 'active' : 'idle');
    await states.look();
  }
  const page = (input: object) =>
    call(chief, 'list_agent_states', input) as Promise<OutputOf<'list_agent_states'>>;
  const first = await page({ limit: 2 });
  expect(first.agents.map(({ agent_id, stretches }) => [agent_id, stretches.length])).toEqual([
    ['ann', 3],
    ['bob', 200],
  ]);
  const [, bob] = first.agents;
  const rest = await page({ of_agent: 'bob', until: bob?.older_than ?? '' });
  expect(rest.agents[0]?.stretches).toHaveLength(51);
  expect(rest.agents[0]?.stretches.at(-1)?.until).toBe(bob?.stretches[0]?.since);
  expect((await page({ limit: 2, after: first.next_after })).agents.map(({ agent_id }) => agent_id)).toEqual([
    'carl',
  ]);
  // What began before the window and lasted into it belongs to it.
  const since = new Date(START + 25_000).toISOString();
  const until = new Date(START + 45_000).toISOString();
  const within = await history('bob', chief, { since, until });
  expect(within.map(({ state, since: from }) => [state, (Date.parse(from) - START) / 1_000])).toEqual(
    [
      ['active', 20],
      ['idle', 30],
      ['active', 40],
    ].map(([state, at]) => [state === 'active' ? 'working' : state, at]),
  );
  await expect(page({ since: until, until: since })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
});
