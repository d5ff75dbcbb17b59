import { type Ask, AGENT_GONE } from '@parley/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createFeed } from '../feed.ts';
import { createLog, type Log } from '../log.ts';
import type { RecordsQuery } from '../records.ts';
import type { Connection } from '../sessions/gone.ts';
import { callerOf, head, NOW } from '../store-contract/scene.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';
import { journalId } from '../threads/access.ts';
import { type AskKeeper, type AskKeeperDeps, type AskNews, createAskKeeper } from './keeper.ts';

const LASTS_MS = 60_000;
const RETURN_MS = 5_000;
const SECOND = 1_000;

let store: Store;
let now: number;
let monotonic: number;
let written: string[];
let inputs: unknown[];
let faults: unknown[];
let gone: string[];
let connection: Connection;
let failing: Error | undefined;
const keepers: AskKeeper[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  now = monotonic = NOW;
  store = openMemoryStore(() => now);
  [written, inputs, faults, gone] = [[], [], [], []];
  connection = 'connected';
  failing = undefined;
});
afterEach(() => {
  for (const keeper of keepers.splice(0)) keeper.close();
  vi.useRealTimers();
});

/** A log that notes by whom and what is written. */
function logOf(name: string): Log {
  const log = createLog(store, createFeed());
  return {
    ...log,
    append: async (command) => {
      if (failing !== undefined) throw failing;
      const { type, input } = command;
      written.push(`${name} ${type}`);
      inputs.push(input);
      return log.append(command);
    },
  };
}

function open(more: Partial<AskKeeperDeps> = {}): AskKeeper {
  const keeper = createAskKeeper({
    store,
    log: logOf('log'),
    clock: { now: () => now, monotonic: () => monotonic, trusted: () => now },
    chance: { bytes: (count) => new Uint8Array(count), below: () => 0 },
    links: { session: () => connection },
    patience: { stuckAfterMs: 1, offlineAfterMs: 1, unreadStuckMs: 1, returnMs: RETURN_MS },
    onGone: (workspace) => gone.push(workspace),
    onFault: (error) => faults.push(error),
    ...more,
  });
  keepers.push(keeper);
  return keeper;
}

let asks = 0;
async function raise(agent = 'alice', workspace = 'w', expires_in_ms = LASTS_MS): Promise<Ask> {
  const { result } = await store.transact({
    type: 'raise_ask',
    ...head(callerOf(agent, workspace), now),
    thread_id: journalId(workspace, agent),
    ask_id: `ask_${++asks}`,
    input: { kind: 'approval', prompt: 'may I?', risk: 'low', expires_in_ms },
  });
  return result.ask;
}
async function kept({ ask_id, workspace_id }: Ask): Promise<Ask | undefined> {
  return (await store.records({ kind: 'ask', workspace_id, keys: [ask_id], limit: 1 }))[0];
}
/** Time passes for all. */
async function pass(ms: number): Promise<void> {
  now += ms;
  monotonic += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

test('open asks are counted for each agent of each workspace, once each, until they are settled', async () => {
  const keeper = open();
  const [one, two, other, elsewhere] = [
    await raise(),
    await raise(),
    await raise('bob'),
    await raise('alice', 'v'),
  ];
  for (const ask of [one, one, two, other, elsewhere]) keeper.watch(ask);
  const counts = () => [keeper.openOf('w', 'alice'), keeper.openOf('w', 'bob'), keeper.openOf('v', 'alice')];
  expect(counts()).toEqual([2, 1, 1]);
  keeper.heard({ ...one, status: 'answering' });
  keeper.heard({ ...one, status: 'resolved' });
  expect(counts()).toEqual([1, 1, 1]);
  for (const ask of [two, other]) keeper.heard({ ...ask, status: 'resolved' });
  expect(counts()).toEqual([0, 0, 1]);
  expect(keeper.openOf('w', 'carol')).toBe(0);
});

test('what is written here is told to the others, of the ask only what they need', async () => {
  const news: AskNews[] = [];
  const keeper = open({ onNews: (ask) => news.push(ask) });
  const ask = await raise();
  keeper.watch(ask);
  const { ask_id, workspace_id, agent_id, session_id, thread_id, created_at, expires_at, status } = ask;
  expect(news).toStrictEqual([
    { ask_id, workspace_id, agent_id, session_id, thread_id, created_at, expires_at, status },
  ]);
  keeper.heard(ask);
  expect(news).toHaveLength(1);
  expect(() => open().watch(ask)).not.toThrow();
});

test('an ask whose time is up is denied by a look, in the name of who looks', async () => {
  const keeper = open({ ownLog: logOf('own') });
  const [soon, later] = [await raise('alice', 'w', SECOND), await raise()];
  keeper.watch(soon);
  keeper.watch(later);
  await pass(SECOND - 1);
  expect(written).toEqual([]);
  await pass(SECOND);
  expect(written).toEqual(['own expire_ask']);
  expect(await kept(soon)).toMatchObject({ status: 'resolved', verdict: { decision: 'denied' } });
  expect(await kept(later)).toMatchObject({ status: 'open' });
  expect(keeper.openOf('w', 'alice')).toBe(1);
  expect(faults).toEqual([]);
});

test('nobody looks while nothing is open, or after the end, and a start begins again', async () => {
  const keeper = open();
  await keeper.start();
  expect(vi.getTimerCount()).toBe(0);
  const [ask, other] = [await raise(), await raise()];
  keeper.watch(ask);
  keeper.watch(other);
  expect(vi.getTimerCount()).toBe(1);
  keeper.heard({ ...ask, status: 'resolved' });
  expect(vi.getTimerCount()).toBe(1);
  keeper.heard({ ...other, status: 'resolved' });
  expect(vi.getTimerCount()).toBe(0);
  keeper.watch(ask);
  keeper.watch(await raise());
  expect(vi.getTimerCount()).toBe(1);
  keeper.close();
  expect(vi.getTimerCount()).toBe(0);
  keeper.watch(await raise());
  expect(vi.getTimerCount()).toBe(0);
  await keeper.start();
  expect(vi.getTimerCount()).toBe(1);
  keeper.close();
  // A start after the first goes on with the same eyes.
  await keeper.start();
  await keeper.start();
  expect(vi.getTimerCount()).toBe(1);
});

test('a start knows what is open, and denies what ran out meanwhile', async () => {
  const [over, ask] = [await raise('alice', 'w', SECOND), await raise('bob')];
  now += SECOND;
  const keeper = open({ ownLog: logOf('own') });
  await keeper.start();
  expect(written).toEqual(['own expire_ask']);
  expect(await kept(over)).toMatchObject({ status: 'resolved' });
  expect(keeper.openOf('w', 'bob')).toBe(1);
  expect(keeper.openOf('w', 'alice')).toBe(0);
  expect(await keeper.settle(ask)).toBe(ask);
});

test('a start that cannot write tells of it and looks on', async () => {
  await raise('alice', 'w', SECOND);
  now += SECOND;
  failing = new Error('not now');
  const keeper = open();
  await keeper.start();
  expect(faults).toEqual([failing]);
  await pass(250);
  expect(faults).toHaveLength(2);
  failing = undefined;
  await pass(250);
  expect(written).toEqual(['log expire_ask']);
  expect(keeper.openOf('w', 'alice')).toBe(0);
});

test('who is not the owner does not look, and settles what it reads', async () => {
  let isOwner = false;
  const keeper = open({ isOwner: () => isOwner, ownLog: logOf('own') });
  const ask = await raise('alice', 'w', SECOND);
  keeper.watch(ask);
  await pass(2 * SECOND);
  expect(written).toEqual([]);
  expect(await keeper.settle(ask)).toMatchObject({ status: 'resolved' });
  expect(written).toEqual(['log expire_ask']);
  isOwner = true;
  keeper.watch(await raise('alice', 'w', SECOND));
  await pass(2 * SECOND);
  expect(written).toEqual(['log expire_ask', 'own expire_ask']);
});

test('however many want an ask settled, it is written once', async () => {
  const keeper = open();
  const ask = await raise('alice', 'w', SECOND);
  keeper.watch(ask);
  now += SECOND;
  const [first, second] = await Promise.all([keeper.settle(ask), keeper.settle(ask), keeper.settleAll()]);
  expect(first).toBe(second);
  expect(written).toEqual(['log expire_ask']);
  keeper.watch(await raise('bob', 'w', SECOND));
  now += SECOND;
  await keeper.settleAll();
  expect(written).toEqual(['log expire_ask', 'log expire_ask']);
  const resolved = { ...ask, status: 'resolved' } as const;
  expect(await keeper.settle(resolved)).toBe(resolved);
  // Where it failed it is tried again.
  const again = await raise('alice', 'w', SECOND);
  now += SECOND;
  failing = new Error('not now');
  await expect(keeper.settle(again)).rejects.toBe(failing);
  failing = undefined;
  expect(await keeper.settle(again)).toMatchObject({ status: 'resolved' });
});

test('an ask is withdrawn when its agent was gone as long as it may be, by a clock that does not jump', async () => {
  const keeper = open({ ownLog: logOf('own') });
  const [ask, other] = [await raise(), await raise('bob', 'v')];
  keeper.watch(ask);
  keeper.watch(other);
  await keeper.dropLost();
  expect(gone).toEqual([]);
  connection = { lost: now };
  const since = { gone_since: new Date(now).toISOString() };
  await keeper.dropLost();
  expect(gone.splice(0)).toEqual(['w', 'v']);
  monotonic += RETURN_MS - 1;
  now += LASTS_MS - 1;
  await keeper.dropLost();
  expect([gone, written]).toEqual([[], []]);
  now -= LASTS_MS - 1;
  monotonic += 1;
  await keeper.dropLost();
  expect(written).toEqual(['own drop_ask', 'own drop_ask']);
  expect(inputs).toEqual([since, since]);
  expect(await kept(ask)).toMatchObject({ verdict: { decision: 'withdrawn', reason: AGENT_GONE } });
  expect(keeper.openOf('w', 'alice')).toBe(0);
  expect(gone).toEqual([]);
});

test('one that came back in time is waited for anew', async () => {
  const keeper = open();
  const ask = await raise();
  keeper.watch(ask);
  connection = { lost: now };
  await keeper.dropLost();
  monotonic += RETURN_MS - 1;
  connection = 'connected';
  await keeper.dropLost();
  expect(gone.splice(0)).toEqual(['w', 'w']);
  connection = { lost: now };
  await keeper.dropLost();
  monotonic += RETURN_MS - 1;
  await keeper.dropLost();
  expect(written).toEqual([]);
  expect(keeper.openOf('w', 'alice')).toBe(1);
  // What was settled and raised again under its name is waited for anew as well.
  keeper.heard({ ...ask, status: 'resolved' });
  keeper.heard(ask);
  monotonic += 1;
  await keeper.dropLost();
  expect(written).toEqual([]);
});

test('who is gone is seen at every fourth look', async () => {
  const keeper = open();
  keeper.watch(await raise());
  connection = { lost: now };
  await pass(750);
  expect(gone).toEqual([]);
  await pass(250);
  expect(gone).toEqual(['w']);
  await pass(SECOND + RETURN_MS);
  expect(written).toEqual(['log drop_ask']);
});

test('people read of an ask that its agent is gone, unless it has its answer', async () => {
  const keeper = open();
  const [ask, settled] = [await raise(), { ...(await raise()), status: 'resolved' } as const];
  expect(await keeper.shown([ask, settled])).toEqual([ask, settled]);
  connection = { lost: now - 5 };
  const agent_gone_since = new Date(now - 5).toISOString();
  expect(await keeper.shown([ask, settled])).toEqual([{ ...ask, agent_gone_since }, settled]);
  const leave = keeper.waits(ask.ask_id);
  expect(await keeper.shown([ask])).toEqual([ask]);
  leave();
  expect(await keeper.shown([ask])).toEqual([{ ...ask, agent_gone_since }]);
});

test('an ask of which nobody knows how it stands is read until it can be', async () => {
  let failures = 2;
  const records: Store['records'] = async (query) => {
    if (query.keys !== undefined && failures-- > 0) throw new Error('not now');
    return store.records(query);
  };
  const keeper = open({ store: { ...store, records } });
  const ask = await raise();
  keeper.lookUp('w', ask.ask_id);
  keeper.lookUp('w', 'ask_none');
  await pass(10 * SECOND);
  expect(keeper.openOf('w', 'alice')).toBe(1);
  expect(faults).toEqual([]);
  failures = Infinity;
  keeper.lookUp('w', ask.ask_id);
  await keeper.start();
  await vi.advanceTimersByTimeAsync(0);
  keeper.close();
  await pass(10 * SECOND);
  expect(faults).toHaveLength(1);
});

test('what another has settled is not open after a reload', async () => {
  const keeper = open();
  const [ask, other] = [await raise('alice', 'w', SECOND), await raise('bob')];
  keeper.watch(ask);
  const second = open();
  now += SECOND;
  await second.settle(ask);
  expect(keeper.openOf('w', 'alice')).toBe(1);
  await keeper.reload();
  await vi.advanceTimersByTimeAsync(0);
  expect([keeper.openOf('w', 'alice'), keeper.openOf('w', 'bob')]).toEqual([0, 1]);
  expect(await kept(other)).toMatchObject({ status: 'open' });
});

test('a reload reads all that is open, page by page, and what was settled meanwhile is not asked for', async () => {
  const [ask, settled] = [await raise(), await raise('bob')];
  const page = Array.from({ length: 500 }, (_, i) => ({ ...ask, ask_id: `ask_many_${i}` }));
  const queries: RecordsQuery[] = [];
  const records = async (query: RecordsQuery): Promise<Ask[]> => {
    queries.push(query);
    keeper.heard({ ...settled, status: 'resolved' });
    return query.after === undefined ? page : [ask];
  };
  const keeper = open({ store: { ...store, records: records as Store['records'] } });
  keeper.watch(settled);
  await keeper.reload();
  expect(queries.map(({ after }) => after)).toEqual([undefined, { workspace_id: 'w', key: 'ask_many_499' }]);
  expect(keeper.openOf('w', 'alice')).toBe(501);
});
