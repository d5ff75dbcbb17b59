import type { Caller, Trace } from '@parley/protocol';
import { beforeEach, expect, test } from 'vitest';

import type { AcceptDelivery } from '../commands.ts';
import { hubCaller } from '../hub-caller.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';
import { journalId } from '../threads/access.ts';
import type { DeliveryOutcome } from './outcome.ts';
import { queueRules } from './rules.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const at = (ms: number): string => new Date(NOW + ms).toISOString();
const ed: Caller = { agent_id: 'ed', workspace_id: 'a', role: 'worker', session_id: 's' };
const error = { code: 'NOT_FOUND', message: 'there is no such document' } as const;

let store: Store;
let now: number;
beforeEach(() => {
  now = NOW;
  store = openMemoryStore(() => now);
});

const accept = (delivery_id: string, more: Partial<AcceptDelivery> = {}) =>
  store.transact({
    type: 'accept_delivery',
    caller: ed,
    now,
    salt: 1,
    delivery: { delivery_id, eta: at(1_000), expires_at: at(60_000), idempotency_key: `key ${delivery_id}` },
    input: { action: 'knowledge.create_document', args: { n: delivery_id } },
    ...more,
  });
const settle = async (delivery_id: string, outcome: DeliveryOutcome): Promise<boolean> => {
  const { result } = await store.transact({
    type: 'settle_delivery',
    caller: hubCaller('a'),
    now,
    salt: 2,
    thread_id: journalId('a', 'ed'),
    input: { delivery_id, outcome },
  });
  return result.settled;
};
const redrive = async (delivery_id: string, caller = ed) =>
  (
    await store.transact({
      type: 'redrive_delivery',
      caller,
      now,
      salt: 3,
      thread_id: journalId('a', 'ed'),
      eta: at(9_000),
      input: { delivery_id },
    })
  ).result;
const forget = async (finished_before: string, ...delivery_ids: string[]): Promise<number> =>
  (
    await store.transact({
      type: 'forget_deliveries',
      caller: hubCaller('a'),
      now,
      salt: 4,
      input: { delivery_ids, finished_before },
    })
  ).result.forgotten;
const find = async (id: string) =>
  (await store.records({ kind: 'delivery', workspace_id: 'a', keys: [id], limit: 1 }))[0];
const letter = async (id: string) =>
  (await store.records({ kind: 'delivery_body', workspace_id: 'a', keys: [id], limit: 1 }))[0];
const journal = async () =>
  (
    await store.workspace({ workspace_id: 'a', participant: undefined, after: 0, limit: 100, max_bytes: 1e9 })
  ).rows
    .map(({ entry }) => entry)
    .filter(({ type }) => type.startsWith('delivery.'));

test('[KNOW-3] what is accepted is kept with its letter, and with its trace and grant where it has them', async () => {
  const { result } = await accept('one');
  const kept = {
    delivery_id: 'one',
    status: 'waiting',
    accepted_at: at(0),
    eta: at(1_000),
    expires_at: at(60_000),
  };
  expect(result).toEqual(kept);
  expect(await find('one')).toEqual({
    ...kept,
    workspace_id: 'a',
    action: 'knowledge.create_document',
    from: 'ed',
    idempotency_key: 'key one',
    attempts: 0,
    redrives: 0,
  });
  expect(await letter('one')).toEqual({ delivery_id: 'one', caller: ed, args: { n: 'one' } });
  const trace: Trace = { traceparent: 't-1', request_id: 'r-1', correlation_id: 'c-1' };
  const grant = { kid: 'k', devices: [] };
  await accept('two', { trace, grant });
  expect(await find('two')).toMatchObject({ trace_id: 't-1', request_id: 'r-1', correlation_id: 'c-1' });
  expect(await letter('two')).toMatchObject({ trace, grant });
  await accept('three', { trace: { traceparent: 't-2' } });
  const third = await find('three');
  expect(third).toMatchObject({ trace_id: 't-2' });
  expect(third).not.toHaveProperty('request_id');
  expect(third).not.toHaveProperty('correlation_id');
});

test('[KNOW-3] a number below the last one of its context leaves nothing', async () => {
  await accept('one', { order: { context_id: 'c', seq: 2 } });
  const { result } = await accept('two', { order: { context_id: 'c', seq: 1 } });
  expect(result).toEqual({ ignored: true, last_seq: 2 });
  expect([await find('two'), await letter('two')]).toEqual([undefined, undefined]);
});

test('[KNOW-3] a failure that passes is waited out, with its reason; what is done lets go of its letter', async () => {
  await accept('one');
  const down = { code: 'UNAVAILABLE', message: 'down' } as const;
  now += 5;
  expect(await settle('one', { is: 'retry', error: down, next_attempt_at: at(1_000) })).toBe(true);
  expect(await find('one')).toMatchObject({
    status: 'waiting',
    attempts: 1,
    error: down,
    next_attempt_at: at(1_000),
  });
  now += 5;
  expect(await settle('one', { is: 'done', result: { id: 'x' } })).toBe(true);
  const done = await find('one');
  expect(done).toMatchObject({ status: 'done', attempts: 2, finished_at: at(10), result: { id: 'x' } });
  for (const gone of ['error', 'next_attempt_at']) expect(done).not.toHaveProperty(gone);
  expect(await letter('one')).toBeUndefined();
  // It ended: nobody ends it again, and nobody ends what is not there.
  now += 5;
  for (const outcome of [
    { is: 'done', result: {} },
    { is: 'dead', error },
  ] as const)
    expect(await settle('one', outcome)).toBe(false);
  expect(await find('one')).toEqual(done);
  expect(await settle('nothing', { is: 'dead', error })).toBe(false);
  expect(await journal()).toEqual([]);
});

test('[KNOW-3] a dead letter says why, also in the journal, in the trace in which it was sent', async () => {
  const trace: Trace = { traceparent: 't-1', request_id: 'r-1', correlation_id: 'c-1' };
  await accept('one', { trace });
  await accept('two');
  await accept('three', { trace: { traceparent: 't-3' } });
  for (const id of ['one', 'two', 'three']) await settle(id, { is: 'dead', error });
  expect(await find('one')).toMatchObject({ status: 'dead', attempts: 1, finished_at: at(0), error });
  const told = await journal();
  expect(told[0]).toMatchObject({
    type: 'delivery.dead',
    body: 'undeliverable: there is no such document',
    metadata: {
      event_type: 'delivery.dead',
      delivery_id: 'one',
      action: 'knowledge.create_document',
      attempts: 1,
      error,
    },
  });
  expect(told[0]?.metadata).toMatchObject(trace);
  for (const name of Object.keys(trace)) expect(told[1]?.metadata).not.toHaveProperty(name);
  expect(told[2]?.metadata).toMatchObject({ traceparent: 't-3' });
  expect(told[2]?.metadata).not.toHaveProperty('request_id');
  // Given up, and carried out all the same: that counts.
  expect(await settle('one', { is: 'done', result: {} })).toBe(true);
  expect(await find('one')).toMatchObject({ status: 'done', attempts: 2 });
  expect(await settle('two', { is: 'retry', error, next_attempt_at: at(1) })).toBe(false);
});

test('[KNOW-3] its sender and those who steer have a dead letter tried again; to others it is not there', async () => {
  await accept('one');
  expect(await redrive('one')).toEqual({ delivery_id: 'one', status: 'waiting', redriven: false });
  await settle('one', { is: 'dead', error });
  const missing = { code: 'NOT_FOUND', message: 'there is no delivery one' };
  await expect(redrive('one', { ...ed, agent_id: 'eve' })).rejects.toMatchObject(missing);
  await expect(redrive('none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  now += 60_000;
  expect(await redrive('one', { ...ed, agent_id: 'olga', role: 'orchestrator' })).toEqual({
    delivery_id: 'one',
    status: 'waiting',
    redriven: true,
  });
  const again = await find('one');
  expect(again).toMatchObject({ status: 'waiting', eta: at(9_000), attempts: 0, redrives: 1 });
  for (const gone of ['error', 'finished_at']) expect(again).not.toHaveProperty(gone);
  expect((await journal()).at(-1)).toMatchObject({
    type: 'delivery.redriven',
    body: 'tried again: knowledge.create_document',
    sender_agent_id: 'olga',
  });
  expect((await journal()).at(-1)?.metadata).not.toHaveProperty('error');
  await settle('one', { is: 'dead', error });
  now += 1;
  expect(await redrive('one')).toEqual({
    delivery_id: 'one',
    status: 'dead',
    redriven: false,
    error: { code: 'EXPIRED', message: `it was good until ${at(60_000)}; send it anew` },
  });
});

test('[KNOW-3] what ended before a moment is forgotten with its letter, what ended in it or waits is not', async () => {
  for (const id of ['old', 'new', 'waiting']) await accept(id);
  await settle('old', { is: 'dead', error });
  now += 1;
  await settle('new', { is: 'dead', error });
  expect(await forget(at(1), 'old', 'new', 'waiting', 'none')).toBe(1);
  expect([await find('old'), await letter('old')]).toEqual([undefined, undefined]);
  for (const id of ['new', 'waiting']) expect([await find(id), await letter(id)]).not.toContain(undefined);
});

test('each rule of the queue names beforehand what it looks at, and what it did is told', async () => {
  const about = { thread_id: 't', input: { delivery_id: 'one', delivery_ids: ['one', 'two'] } } as never;
  const one = { kind: 'delivery', key: 'one' };
  const needed = { thread: 't', records: true, gets: [one] };
  expect(queueRules.settle_delivery.needs(about)).toEqual(needed);
  expect(queueRules.redrive_delivery.needs(about)).toEqual(needed);
  expect(queueRules.forget_deliveries.needs(about)).toEqual({
    records: true,
    gets: [one, { kind: 'delivery', key: 'two' }],
  });
  await accept('one');
  expect(await settle('one', { is: 'dead', error })).toBe(true);
  const [dead] = await journal();
  expect(dead?.metadata).not.toHaveProperty('traceparent');
});
