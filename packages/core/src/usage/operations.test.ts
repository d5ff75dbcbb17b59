import type { Caller, OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import { createUsageKeeper } from './usage-keeper.ts';

const START = Date.parse('2030-01-31T23:59:00Z');
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
  const { deps, call } = openSampleHub(openMemoryStore(), clock);
  deps.prices = [{ model: 'gpt', input_usd: 2, output_usd: 8 }];
  const usage = (input: object, caller = chief) =>
    call(caller, 'get_usage', input) as Promise<OutputOf<'get_usage'>>;
  return { clock, deps, call, usage };
}

test('what turns used is summed up by agent, thread, day and model; what was not reported is told so', async () => {
  const { clock, call, usage } = scene();
  const { thread_id } = (await call(who('bob'), 'create_thread', { title: 't' })) as { thread_id: string };
  await call(who('bob'), 'report_usage', {
    model: 'claude',
    input_tokens: 90,
    output_tokens: 10,
    cost_usd: 0.25,
    thread_id,
  });
  await call(who('bob'), 'report_usage', { model: 'gpt-5', input_tokens: 1_000_000, output_tokens: 500_000 });
  clock.now += 120_000;
  await call(who('ann'), 'report_usage', { cost_usd: 0.5 });
  const rows = async (by: string) =>
    (await usage({ by })).rows.map((row) => [
      row.agent_id ?? row.thread_id ?? row.day ?? row.model,
      row.turns,
      row.input_tokens,
      row.cost_reported_usd,
      row.cost_priced_usd,
    ]);
  expect(await rows('agent')).toEqual([
    ['bob', 2, 1_000_090, 0.25, 6],
    ['ann', 1, 0, 0.5, null],
  ]);
  expect(await rows('thread')).toEqual([
    [undefined, 2, 1_000_000, 0.5, 6],
    [thread_id, 1, 90, 0.25, null],
  ]);
  expect(await rows('day')).toEqual([
    ['2030-01-31', 2, 1_000_090, 0.25, 6],
    ['2030-02-01', 1, 0, 0.5, null],
  ]);
  expect(await rows('model')).toEqual([
    ['gpt-5', 1, 1_000_000, null, 6],
    [undefined, 1, 0, 0.5, null],
    ['claude', 1, 90, 0.25, null],
  ]);
  expect((await usage({})).total).toMatchObject({ turns: 3, turns_without_tokens: 1, turns_without_cost: 0 });
  expect((await usage({ thread_id })).total).toMatchObject({ turns: 1, output_tokens: 10 });
  expect((await usage({ since: '2030-02-01' })).total.turns).toBe(1);
  expect((await usage({ until: '2030-01-31' })).total.turns).toBe(2);
});

test('a turn that is reported twice under one key counts once', async () => {
  const { call, usage } = scene();
  const turn = { input_tokens: 5, idempotency_key: 'one' };
  await call(who('bob'), 'report_usage', turn);
  await call(who('bob'), 'report_usage', turn);
  expect((await usage({})).total.turns).toBe(1);
});

test('a turn that is reported later counts for its own day, and never for one to come', async () => {
  const { call, usage } = scene();
  const days = async () => (await usage({ by: 'day' })).rows.map(({ day, turns }) => [day, turns]);
  const report = (day: string) => call(who('bob'), 'report_usage', { input_tokens: 5, day });
  expect(await report('2030-01-29')).toEqual({ ok: true, day: '2030-01-29' });
  expect(await report('2030-02-03')).toEqual({ ok: true, day: '2030-01-31' });
  expect(await days()).toEqual([
    ['2030-01-29', 1],
    ['2030-01-31', 1],
  ]);
});

test('a turn of which nothing is known counts as one without tokens and without a cost', async () => {
  const { call, usage } = scene();
  await call(who('bob'), 'report_usage', {});
  expect((await usage({})).total).toMatchObject({
    turns: 1,
    turns_without_tokens: 1,
    turns_without_cost: 1,
    cost_reported_usd: null,
    cost_priced_usd: null,
  });
});

test('workers see their own, and nobody sees another workspace', async () => {
  const { call, usage } = scene();
  await call(who('bob'), 'report_usage', { input_tokens: 5 });
  expect((await usage({}, who('bob'))).total.turns).toBe(1);
  expect((await usage({}, who('ann'))).total.turns).toBe(0);
  await expect(usage({ of_agent: 'bob' }, who('ann'))).rejects.toMatchObject({
    code: 'INSUFFICIENT_AUTHORITY',
  });
  expect((await usage({}, who('chief', 'operator', 'w2'))).total.turns).toBe(0);
});

test('what is out of bounds is refused, and what is of a thread that the agent is not in', async () => {
  const { call, usage } = scene();
  const { thread_id } = (await call(who('ann'), 'create_thread', { title: 't' })) as { thread_id: string };
  const refused = (input: object) => expect(call(who('bob'), 'report_usage', input)).rejects;
  await refused({ input_tokens: -1 }).toMatchObject({ code: 'VALIDATION_ERROR' });
  await refused({ input_tokens: 1.5 }).toMatchObject({ code: 'VALIDATION_ERROR' });
  await refused({ cost_usd: 1e9 }).toMatchObject({ code: 'VALIDATION_ERROR' });
  await refused({ input_tokens: 1, thread_id }).toMatchObject({ code: 'FORBIDDEN' });
  expect((await usage({})).total.turns).toBe(0);
});

test('what is older than is kept is forgotten', async () => {
  const { clock, deps, call, usage } = scene();
  await call(who('bob'), 'report_usage', { input_tokens: 5 });
  const keeper = createUsageKeeper({
    ...deps,
    keepDays: 10,
    onFault: (error) => {
      throw error;
    },
  });
  clock.now += 10 * DAY_MS;
  await keeper.sweep();
  expect((await usage({})).total.turns).toBe(1);
  clock.now += DAY_MS;
  await keeper.sweep();
  expect((await usage({})).total.turns).toBe(0);
});
