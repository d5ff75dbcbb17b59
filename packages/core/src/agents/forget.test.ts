import type { AgentView, Caller } from '@parley/protocol';
import { expect, test } from 'vitest';

import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import { createForgetKeeper } from './forget-keeper.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const DAY_MS = 86_400_000;
const who = (agent_id: string, role: Caller['role'] = 'worker'): Caller => ({
  agent_id,
  workspace_id: 'w1',
  role,
  session_id: `${agent_id}-1`,
});
const chief = who('chief', 'operator');
const BY_RUN = { program: 'vim', kind: 'closed', supervisor: 4711 };

/** Agents that registered and beat, and a clock to move. */
function scene() {
  const clock = { now: START };
  const sample = openSampleHub(openMemoryStore(), clock);
  const { deps, call } = sample;
  const keeper = (afterMs = DAY_MS) =>
    createForgetKeeper({
      ...deps,
      afterMs,
      onFault: (error) => {
        throw error;
      },
    });
  return {
    clock,
    deps,
    call,
    keeper,
    join: async (name: string, metadata?: Record<string, unknown>): Promise<void> => {
      await call(who(name), 'register_agent', { name, ...(metadata === undefined ? {} : { metadata }) });
      await call(who(name), 'heartbeat_session', { runtime: 'r', status: 'idle' });
    },
    leave: async (name: string): Promise<void> => {
      await call(who(name), 'update_agent_status', { status: 'offline' });
      await call(who(name), 'heartbeat_session', { runtime: 'r', status: 'offline' });
    },
    names: async (): Promise<string[]> => {
      const { agents } = (await call(chief, 'list_agents', {})) as { agents: AgentView[] };
      return agents.map(({ agent_id }) => agent_id);
    },
    journal: async (name: string): Promise<string[]> => {
      const { rows } = await deps.store.workspace({
        workspace_id: 'w1',
        participant: undefined,
        after: 0,
        limit: 1_000,
        max_bytes: 1e9,
      });
      return rows
        .filter(({ entry }) => entry.type === 'agent.forgotten' && entry.metadata?.['of_agent'] === name)
        .map(({ entry }) => `${entry.sender_agent_id}: ${entry.body}`);
    },
  };
}

test('an operator takes one that is gone off the list, with its sessions, on record', async () => {
  const { join, leave, names, call, journal } = scene();
  await join('old');
  await leave('old');
  await expect(call(who('old'), 'forget_agent', { of_agent: 'old' })).rejects.toMatchObject({
    code: 'INSUFFICIENT_AUTHORITY',
  });
  expect(await call(chief, 'forget_agent', { of_agent: 'old', reason: 'it was a trial' })).toEqual({
    agent_id: 'old',
    forgotten_at: new Date(START).toISOString(),
    sessions: 1,
  });
  expect(await names()).not.toContain('old');
  expect(await call(chief, 'list_sessions', { of_agent: 'old' })).toMatchObject({ sessions: [] });
  expect(await journal('old')).toEqual(['chief: it was a trial']);
  await expect(call(chief, 'forget_agent', { of_agent: 'old' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  // Heard again, it is there again.
  await join('old');
  expect(await names()).toContain('old');
});

test('one that is there is refused, and the refusal says what to do', async () => {
  const { join, call, names, clock, deps } = scene();
  await join('busy');
  const refusal = { code: 'CONFLICT', message: expect.stringContaining('end its program first') as string };
  await expect(call(chief, 'forget_agent', { of_agent: 'busy' })).rejects.toMatchObject(refusal);
  clock.now += 119_000;
  await expect(call(chief, 'forget_agent', { of_agent: 'busy' })).rejects.toMatchObject(refusal);
  clock.now += 2_000;
  deps.links = {
    ...deps.links,
    of: () => new Map([['busy', [{ how: 'ws', since: START, session_id: 'busy-1' }]]]),
  };
  await expect(call(chief, 'forget_agent', { of_agent: 'busy' })).rejects.toMatchObject(refusal);
  deps.links = { ...deps.links, of: () => new Map() };
  await call(chief, 'forget_agent', { of_agent: 'busy' });
  expect(await names()).not.toContain('busy');
});

test('a program that was run once and is gone for long is forgotten by itself; nobody else is', async () => {
  const { join, leave, names, call, clock, keeper, journal } = scene();
  const once = ['vim', 'killed'];
  for (const name of [...once, 'talker', 'asker', 'teller', 'newer']) await join(name, BY_RUN);
  await join('own');
  await call(who('talker'), 'create_thread', { title: 't', participants: ['chief'] });
  await call(who('asker'), 'raise_ask', { prompt: 'may I?' });
  await call(who('teller'), 'report_event', { event_type: 'info', data: { message: 'done' } });
  await leave('vim');
  clock.now += DAY_MS - 60_000;
  await keeper().sweep();
  expect(await names()).toEqual(expect.arrayContaining(once));
  await join('newer', BY_RUN);
  clock.now += 120_000;
  await keeper(0).sweep();
  expect(await names()).toEqual(expect.arrayContaining(once));
  await keeper().sweep();
  expect(await names()).toEqual(['asker', 'newer', 'own', 'talker', 'teller']);
  for (const name of once)
    expect(await journal(name)).toEqual([`parley: ${name} is gone and was taken off the list`]);
  const before = await journal('vim');
  await keeper().sweep();
  expect(await journal('vim')).toEqual(before);
});

test('[R10] those who stay do not keep a sweep from those behind them', async () => {
  const { join, names, call, clock, keeper } = scene();
  const staying = Array.from({ length: 201 }, (_, n) => `a${String(n).padStart(3, '0')}`);
  for (const name of [...staying, 'z']) await join(name, BY_RUN);
  for (const name of staying) {
    clock.now += 1;
    await call(who(name), 'create_thread', { title: 't', participants: ['chief'] });
  }
  clock.now += DAY_MS + 120_000;
  const one = keeper();
  await one.sweep();
  await one.sweep();
  const { agents } = (await call(chief, 'list_agents', { after: 'a199' })) as { agents: AgentView[] };
  expect(agents.map(({ agent_id }) => agent_id)).toEqual(['a200']);
  expect(await names()).toEqual(staying.slice(0, 50));
});
