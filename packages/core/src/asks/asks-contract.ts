import {
  type Ask,
  canonicalJson,
  type Caller,
  HUB_NAME,
  NO_LONGER_NEEDED,
  ParleyError,
} from '@parley/protocol';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createFeed } from '../feed.ts';
import { hubCaller } from '../hub-caller.ts';
import { openSampleHub, type SampleHub } from '../sample-hub.ts';
import type { Connection } from '../sessions/gone.ts';
import type { Store } from '../store.ts';
import { journalId } from '../threads/access.ts';

const START = Date.parse('2030-01-01T00:00:00Z');

let workspaces = 0;

function people() {
  const workspace_id = `asks${++workspaces}`;
  const who = (agent_id: string, role: Caller['role'], session_id = `${agent_id}-1`): Caller => ({
    agent_id,
    workspace_id,
    role,
    session_id,
  });
  return {
    workspace_id,
    agent: who('agent', 'worker'),
    desk: who('person', 'operator', 'desk'),
    tablet: who('person', 'operator', 'tablet'),
    other: who('other', 'operator'),
    watcher: who('watcher', 'observer'),
  };
}

type Person = 'desk' | 'tablet' | 'other';

const answer = fc.record(
  {
    decision: fc.constantFrom('approved', 'denied', 'answered'),
    scope: fc.constantFrom('once', 'rule'),
    text: fc.constantFrom('yes', 'no'),
  },
  { requiredKeys: ['decision'] },
);

const step = fc.oneof(
  fc.record({
    do: fc.constant('answer' as const),
    who: fc.constantFrom<Person>('desk', 'tablet', 'other'),
    answer,
    key: fc.constantFrom(undefined, 'k1', 'k2'),
  }),
  fc.record({ do: fc.constant('wait' as const), who: fc.constantFrom('agent' as const, 'watcher' as const) }),
  fc.record({ do: fc.constant('look' as const), who: fc.constantFrom('agent' as const, 'desk' as const) }),
  fc.record({ do: fc.constant('list' as const), who: fc.constantFrom('agent' as const, 'watcher' as const) }),
  fc.record({
    do: fc.constantFrom('withdraw' as const, 'keeper' as const, 'lost' as const, 'restart' as const),
  }),
  // Wall clocks go both ways.
  fc.record({ do: fc.constant('clock' as const), ms: fc.integer({ min: -1_500, max: 1_500 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What the rules of asks must hold over every store, whatever the order in which things happen. */
export function testAsks(
  open: () => Promise<{ store: Store; close(): Promise<void> }>,
  sizes: { runs: number; listed: number },
): void {
  let opened: { store: Store; close(): Promise<void> } | undefined;
  beforeAll(async () => {
    opened = await open();
  }, 60_000);
  afterAll(() => opened?.close());
  const theStore = (): Store => {
    if (opened === undefined) throw new Error('the store did not open');
    return opened.store;
  };

  test('whatever the interleaving, exactly one verdict stands and all readers see the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 12 }), async (scheduler, steps) => {
        const seen = await play(theStore(), steps, scheduler);
        expect(new Set(seen).size).toBe(1);
      }),
      { numRuns: sizes.runs },
    );
  });

  test('the newest asks are listed first, page by page, by status and by agent', async () => {
    const { desk, agent, workspace_id } = people();
    const { call, deps } = openSampleHub(theStore(), { now: START });
    const agents = [agent, { ...agent, agent_id: 'second' }] as const;
    const ids = Array.from({ length: sizes.listed }, (_, i) => `ask_${String(i).padStart(6, '0')}`);
    const owner = (i: number): Caller => agents[i % 3 === 0 ? 1 : 0];
    const head = (i: number) => {
      const caller = owner(i);
      const thread_id = journalId(workspace_id, caller.agent_id);
      return { caller, now: START, salt: i, thread_id, ask_id: ids[i] ?? '' };
    };
    const input = { kind: 'question', prompt: 'may I?', risk: 'low', expires_in_ms: 1e9 } as const;
    // Straight to the store: the gate would not let one agent have so many open.
    await Promise.all(ids.map((_, i) => deps.store.transact({ type: 'raise_ask', ...head(i), input })));
    const gone = ids.flatMap((_, i) => (i % 2 === 0 ? [i] : []));
    const reason = { reason: 'no longer' };
    await Promise.all(
      gone.map((i) => deps.store.transact({ type: 'withdraw_ask', ...head(i), input: reason })),
    );
    const listed = async (caller: Caller, filter: object, pages: number): Promise<string[]> => {
      const found: string[] = [];
      let before: string | null = null;
      for (let page = 0; page < pages; page++) {
        const reported = (await call(caller, 'list_asks', {
          limit: 7,
          ...filter,
          ...(before === null ? {} : { before }),
        })) as { asks: Ask[]; next_before: string | null };
        found.push(...reported.asks.map(({ ask_id }) => ask_id));
        before = reported.next_before;
        if (before === null) break;
      }
      return found;
    };
    const expected = (fits: (i: number) => boolean, most: number): string[] =>
      ids
        .filter((_, i) => fits(i))
        .toReversed()
        .slice(0, most);
    expect(await listed(desk, { status: 'all' }, 3)).toEqual(expected(() => true, 21));
    expect(await listed(desk, { status: 'resolved' }, 3)).toEqual(expected((i) => i % 2 === 0, 21));
    expect(await listed(desk, {}, 3)).toEqual(expected((i) => i % 2 === 1, 21));
    expect(await listed(desk, { status: 'all', of_agent: 'second' }, 3)).toEqual(
      expected((i) => i % 3 === 0, 21),
    );
    expect(await listed(desk, { of_agent: 'second' }, 3)).toEqual(expected((i) => i % 6 === 3, 21));
    // A worker sees its own, whomever it asks for.
    expect(await listed(agents[1], { status: 'all' }, 3)).toEqual(expected((i) => i % 3 === 0, 21));
    expect(await listed(agents[1], { status: 'all', of_agent: 'agent' }, 3)).toEqual([]);
    const all = await listed(desk, { status: 'all', limit: 200 }, Infinity);
    expect(all).toEqual(expected(() => true, Infinity));
  });

  test('an ask whose agent is gone says so, and is withdrawn on record unless the agent comes back in time', async () => {
    const { desk: person, agent, workspace_id } = people();
    const clock = { now: START };
    const links = new Map<string, Connection>();
    const { call, deps } = openSampleHub(theStore(), clock);
    deps.links.session = ({ session_id }) => links.get(session_id);
    const raise = async (caller: Caller): Promise<Ask> =>
      ((await call(caller, 'raise_ask', { prompt: 'may I?', expires_in_ms: 3_600_000 })) as { ask: Ask }).ask;
    const look = async ({ ask_id }: Ask): Promise<Ask> =>
      ((await call(person, 'get_ask', { ask_id })) as { ask: Ask }).ask;
    const pass = async (ms: number): Promise<void> => {
      clock.now += ms;
      await deps.asks.dropLost();
    };
    const sessions = ['killed', 'returns', 'unknown'] as const;
    const [killed, returns, unknown] = await Promise.all(
      sessions.map((session_id) => raise({ ...agent, session_id })),
    );
    if (killed === undefined || returns === undefined || unknown === undefined) throw new Error('not raised');
    links.set('killed', 'connected').set('returns', 'connected');
    await pass(600_000);
    expect(await look(killed)).toEqual(killed);

    links.set('killed', { lost: clock.now }).set('returns', { lost: clock.now });
    const agent_gone_since = new Date(clock.now).toISOString();
    await pass(10);
    expect(await look(killed)).toEqual({ ...killed, agent_gone_since });
    expect(await call(person, 'list_asks', {})).toMatchObject({
      asks: expect.arrayContaining([{ ...returns, agent_gone_since }, unknown]),
    });
    // It needs nobody who could not hear them.
    expect(await call(person, 'get_agent', { of_agent: agent.agent_id })).toMatchObject({ open_asks: 3 });
    await pass(20_000);
    links.set('returns', 'connected');
    await pass(9_000);
    expect(await look(killed)).toMatchObject({ status: 'open' });
    await pass(1_100);
    const verdict = { decision: 'withdrawn', by: HUB_NAME, device: 'hub', reason: 'the agent is gone' };
    const resolved_at = new Date(clock.now).toISOString();
    const withdrawn = {
      ...killed,
      status: 'resolved',
      resolved_at,
      verdict: { ...verdict, at: resolved_at },
    };
    expect(await look(killed)).toEqual(withdrawn);
    expect(await look(returns)).toEqual(returns);
    expect(await look(unknown)).toEqual(unknown);
    const query = { workspace_id, thread_id: killed.thread_id, after: 0, limit: 100, max_bytes: 1e9 };
    expect((await deps.store.page(query)).entries.at(-1)).toMatchObject({
      type: 'ask.resolved',
      sender_agent_id: HUB_NAME,
      body: 'withdrawn: the agent is gone',
      in_reply_to: killed.message_id,
    });
    deps.asks.close();
  });

  test('what is taken back when its time is up was denied, also before anybody has put that on record', async () => {
    const { agent } = people();
    const clock = { now: START };
    const { call, deps } = openSampleHub(theStore(), clock);
    const { ask } = (await call(agent, 'raise_ask', { prompt: 'may I?', expires_in_ms: 1_000 })) as {
      ask: Ask;
    };
    clock.now += 1_000;
    const head = { caller: agent, now: clock.now, salt: 3, thread_id: ask.thread_id, ask_id: ask.ask_id };
    const input = { reason: NO_LONGER_NEEDED };
    const { result } = await deps.log.append({ type: 'withdraw_ask', ...head, input });
    expect(result.ask).toMatchObject({
      status: 'resolved',
      verdict: { decision: 'denied', by: HUB_NAME, at: ask.expires_at },
    });
    deps.asks.close();
  });

  test('an answer that comes when its time is up is none, also before anybody has put that on record', async () => {
    const { agent, desk } = people();
    const clock = { now: START };
    const { call, deps } = openSampleHub(theStore(), clock);
    const raise = async (): Promise<Ask> =>
      ((await call(agent, 'raise_ask', { prompt: 'may I?', expires_in_ms: 1_000 })) as { ask: Ask }).ask;
    const [early, late] = [await raise(), await raise()];
    const answers = { decision: 'approved' } as const;
    clock.now += 999;
    expect(await call(desk, 'answer_ask', { ask_id: early.ask_id, ...answers })).toMatchObject({
      ask: { verdict: { decision: 'approved', by: 'person' } },
    });
    clock.now += 1;
    // Straight to the store, as for one who read it in time and was kept waiting for his turn.
    const head = { caller: desk, now: clock.now, salt: 3, thread_id: late.thread_id, ask_id: late.ask_id };
    const { result } = await deps.log.append({ type: 'answer_ask', ...head, input: answers });
    expect(result.ask).toMatchObject({
      status: 'resolved',
      verdict: { decision: 'denied', by: HUB_NAME, at: late.expires_at },
    });
    expect(
      await call(desk, 'answer_ask', { ask_id: late.ask_id, ...answers }).catch((error: unknown) => error),
    ).toMatchObject({
      code: 'CONFLICT',
      details: { ask: { verdict: { decision: 'denied', by: HUB_NAME } } },
    });
    expect(await call(agent, 'get_ask', { ask_id: late.ask_id })).toMatchObject({
      ask: { status: 'resolved', verdict: { decision: 'denied' } },
    });
    deps.asks.close();
  });

  test('who has beaten since it was found gone keeps its ask, decided where it is written', async () => {
    const { agent, workspace_id } = people();
    const clock = { now: START };
    const { call, deps } = openSampleHub(theStore(), clock);
    const { ask } = (await call(agent, 'raise_ask', { prompt: 'may I?' })) as { ask: Ask };
    const beat = { runtime: 'codex', status: 'idle', management_mode: 'managed' };
    clock.now += 1_000;
    await call(agent, 'heartbeat_session', beat);
    const drop = async (gone: number): Promise<Ask> => {
      const caller = hubCaller(workspace_id);
      const head = { caller, now: clock.now, salt: 3, thread_id: ask.thread_id, ask_id: ask.ask_id };
      const input = { gone_since: new Date(gone).toISOString() };
      return (await deps.log.append({ type: 'drop_ask', ...head, input })).result.ask;
    };
    expect(await drop(START)).toEqual(ask);
    await call(agent, 'heartbeat_session', { ...beat, status: 'offline' });
    expect(await drop(START)).toMatchObject({ status: 'resolved', verdict: { decision: 'withdrawn' } });
    deps.asks.close();
  });
}

/** Lets a scheduler decide when each call reaches the store, and when its answer comes back. */
function scheduled(store: Store, scheduler: fc.Scheduler): Store {
  return {
    ...store,
    async transact(command) {
      await scheduler.schedule(Promise.resolve(), `to ${command.type}`);
      const committed = await store.transact(command);
      await scheduler.schedule(Promise.resolve(), `from ${command.type}`);
      return committed;
    },
    async records(query) {
      await scheduler.schedule(Promise.resolve(), 'to records');
      const found = await store.records(query);
      await scheduler.schedule(Promise.resolve(), 'from records');
      return found;
    },
  };
}

/** Every verdict that anybody was told, in the order of being told. */
async function play(record: Store, steps: readonly Step[], scheduler: fc.Scheduler): Promise<string[]> {
  const store = scheduled(record, scheduler);
  const { agent, desk, tablet, other, watcher, workspace_id } = people();
  const callers = { agent, desk, tablet, other, watcher };
  const clock = { now: START };
  // The feed is shared, as between two hubs: what one has begun may be done when the other is up.
  const feed = createFeed();
  const first = openSampleHub(record, clock);
  const { ask } = (await first.call(agent, 'raise_ask', { prompt: 'may I?', expires_in_ms: 1_000 })) as {
    ask: Ask;
  };
  first.deps.asks.close();
  let { call, deps }: SampleHub = openSampleHub(store, clock, feed);
  let life = new AbortController();
  const verdicts: string[] = [];
  const note = (one: Ask | undefined): void => {
    if (one?.verdict !== undefined) verdicts.push(canonicalJson(one.verdict));
  };
  const { ask_id } = ask;
  /** Waits as a client does that comes back when its hub has gone. */
  const waitOver = async (caller: Caller): Promise<Ask> => {
    for (;;) {
      const { signal } = life;
      const reported = await call(caller, 'wait_for_ask', { ask_id, timeout_ms: 2_000 }, signal);
      const { ask: found, timed_out } = reported as { ask: Ask; timed_out: boolean };
      if (!timed_out) return found;
      expect(signal.aborted, 'nobody rang').toBe(true);
    }
  };
  const run = async (one: Step): Promise<void> => {
    await scheduler.schedule(Promise.resolve(), one.do);
    try {
      if (one.do === 'answer') {
        const input = {
          ask_id,
          ...one.answer,
          ...(one.key === undefined ? {} : { idempotency_key: one.key }),
        };
        note(((await call(callers[one.who], 'answer_ask', input)) as { ask: Ask }).ask);
      } else if (one.do === 'withdraw')
        note(((await call(agent, 'withdraw_ask', { ask_id })) as { ask: Ask }).ask);
      else if (one.do === 'look')
        note(((await call(callers[one.who], 'get_ask', { ask_id })) as { ask: Ask }).ask);
      else if (one.do === 'list') {
        const page = (await call(callers[one.who], 'list_asks', { status: 'all' })) as { asks: Ask[] };
        expect(page.asks).toHaveLength(1);
        note(page.asks[0]);
      } else if (one.do === 'wait') {
        note(await waitOver(callers[one.who]));
      } else if (one.do === 'keeper') await deps.asks.settleAll();
      else if (one.do === 'lost') {
        const gone_since = new Date(clock.now).toISOString();
        const head = {
          caller: hubCaller(workspace_id),
          now: clock.now,
          salt: 7,
          thread_id: ask.thread_id,
          ask_id,
        };
        const { result } = await deps.log.append({ type: 'drop_ask', ...head, input: { gone_since } });
        note(result.ask);
      } else if (one.do === 'clock') clock.now += one.ms;
      else {
        deps.asks.close();
        life.abort();
        life = new AbortController();
        ({ call, deps } = openSampleHub(store, clock, feed));
        await deps.asks.start();
      }
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      // A second key with another answer, or the verdict that stands.
      if (error.code === 'IDEMPOTENCY_CONFLICT') return;
      expect(error.code).toBe('CONFLICT');
      expect(error.details?.['ask']).toMatchObject({ verdict: {} });
      note(error.details?.['ask'] as Ask);
    }
  };
  const running = steps.filter((one) => one.do !== 'wait').map(run);
  const waiting = steps.filter((one) => one.do === 'wait').map(run);
  const end = (async () => {
    await Promise.all(running);
    clock.now = START + 1_000_000;
    await deps.asks.start();
    await run({ do: 'look', who: 'desk' });
    await Promise.all(waiting);
  })();
  await scheduler.waitFor(end);
  deps.asks.close();
  await checkLog(record, workspace_id, ask, verdicts[0]);
  return verdicts;
}

/** The log tells the same story: raised once, one verdict, resolved at most once. */
async function checkLog(
  store: Store,
  workspace_id: string,
  ask: Ask,
  verdict: string | undefined,
): Promise<void> {
  const query = { workspace_id, thread_id: ask.thread_id, after: 0, limit: 1_000, max_bytes: 1e9 };
  const { entries } = await store.page(query);
  const of = (type: string) => entries.filter((entry) => entry.type === type);
  expect(of('ask.raised')).toHaveLength(1);
  expect(of('ask.answered').length).toBeLessThanOrEqual(1);
  expect(of('ask.resolved').length).toBeLessThanOrEqual(1);
  const reported = entries
    .flatMap(({ metadata }) => metadata?.['verdict'] ?? [])
    .map((one) => canonicalJson(one));
  expect(reported.length).toBeGreaterThan(0);
  expect(new Set([...reported, verdict]).size).toBe(1);
}
