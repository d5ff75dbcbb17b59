import { expect, test } from 'vitest';

import type { Connection } from '../sessions/gone.ts';
import type { RecordsQuery } from '../records.ts';
import { createGoneRaisers, type Raised } from './gone-raisers.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const at = (ms: number): string => new Date(START + ms).toISOString();
const ask = (ask_id: string, more: Partial<Raised> = {}): Raised => ({
  ask_id,
  workspace_id: 'w',
  agent_id: 'alice',
  session_id: 's1',
  created_at: at(-1_000),
  ...more,
});

/** A hub that came up at the start and has been up for a minute. */
function scene(sessions: object[], connectionOf: (session: string) => Connection = () => undefined) {
  const asked: RecordsQuery[] = [];
  let now = START;
  const raisers = createGoneRaisers({
    store: {
      records: async (query) => {
        asked.push(query);
        return sessions.filter(
          (one) => (one as { workspace_id: string }).workspace_id === query.workspace_id,
        ) as never;
      },
    },
    clock: { now: () => now, monotonic: () => now, trusted: () => now },
    links: { session: ({ session_id }) => connectionOf(session_id) },
    patience: { stuckAfterMs: 1, offlineAfterMs: 1, unreadStuckMs: 1, returnMs: 10_000 },
  });
  now += 60_000;
  return { raisers, asked };
}
const session = (session_id: string, heard: number, more: object = {}) => ({
  workspace_id: 'w',
  agent_id: 'alice',
  session_id,
  status: 'active',
  management_mode: 'managed',
  last_heartbeat_at: at(heard),
  ...more,
});

test('who is connected, or waited for, is not looked up', async () => {
  const { raisers, asked } = scene([session('s1', 0)], (id) => (id === 's2' ? 'connected' : undefined));
  const [first, again] = [raisers.waits('a'), raisers.waits('a')];
  expect(await raisers.find([ask('a'), ask('b', { session_id: 's2' })])).toEqual(new Map());
  expect(asked).toEqual([]);
  first();
  expect((await raisers.find([ask('a')])).size).toBe(0);
  again();
  expect((await raisers.find([ask('a')])).size).toBe(1);
  // One that let go twice takes nothing from the next who waits.
  again();
  const third = raisers.waits('a');
  expect((await raisers.find([ask('a')])).size).toBe(0);
  third();
});

test('the sessions of each workspace are read once, each by its name', async () => {
  const { raisers, asked } = scene([session('s1', 0), session('s1', 0, { workspace_id: 'v' })]);
  const asks = [
    ask('a'),
    ask('b'),
    ask('c', { session_id: 's2' }),
    ask('d', { workspace_id: 'v' }),
    ask('e', { workspace_id: 'v', agent_id: 'bob' }),
  ];
  const found = await raisers.find(asks);
  expect(asked).toEqual([
    { kind: 'session', workspace_id: 'w', keys: ['alice s1', 'alice s2'], limit: 2 },
    { kind: 'session', workspace_id: 'v', keys: ['alice s1', 'bob s1'], limit: 2 },
  ]);
  // Heard last at the start, and then silent for as long as it may be; of the others nobody ever heard.
  expect(found).toEqual(new Map(['a', 'b', 'd'].map((id) => [id, START + 10_000])));
});

test('silence from before the hub came up, or before the ask, is held against nobody', async () => {
  const { raisers } = scene([session('s1', -500_000)]);
  const since = async (created: number) =>
    (await raisers.find([ask('a', { created_at: at(created) })])).get('a');
  expect(await since(-1_000)).toBe(START + 10_000);
  expect(await since(20_000)).toBe(START + 30_000);
  expect(await since(55_000)).toBeUndefined();
});

test('a connection that was lost tells since when', async () => {
  const { raisers } = scene([], () => ({ lost: START + 7 }));
  expect(await raisers.find([ask('a')])).toEqual(new Map([['a', START + 7]]));
});
