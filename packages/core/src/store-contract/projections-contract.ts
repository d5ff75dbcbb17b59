import type { Agent, Ask } from '@parley/protocol';
import * as fc from 'fast-check';
import { expect } from 'vitest';

import { askOf, evolveAsk } from '../asks/evolve-ask.ts';
import type { Entry } from '../entry.ts';
import type { Store } from '../store.ts';
import { evolve, type ThreadState } from '../threads/state.ts';
import { EVERYTHING, SampleHistory, wish } from './sample-history.ts';

/** What a client holds of a workspace: a position, and all that was folded up to it. */
interface Snapshot {
  pos: number;
  threads: Record<string, ThreadState>;
  asks: Record<string, Ask>;
  registrations: Record<string, unknown>;
}

let histories = 0;

/**
 * Whatever happens, a client that holds an old snapshot and replays the events after it has what a fresh fetch gives:
 * threads, asks and registrations alike. The seed of a failure is printed.
 */
export async function testProjections(store: Store, numRuns: number): Promise<void> {
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(wish, { minLength: 1, maxLength: 60, size: 'max' }), async (wishes) => {
      const history = new SampleHistory(store, `h${++histories}`);
      for (const command of history.beginnings()) await store.transact(command);
      const known = new Set<string>();
      const snapshots: Snapshot[] = [{ pos: 0, threads: {}, asks: {}, registrations: {} }];
      for (const [i, one] of wishes.entries()) {
        const command = await history.command(one);
        const { reached = [] } = await store.transact(command).catch(refused);
        for (const { thread_id } of reached) known.add(thread_id);
        if (i % 9 === 0) snapshots.push(await fetch(store, history.workspace_id, known));
      }
      const fresh = await fetch(store, history.workspace_id, known);
      for (const snapshot of snapshots) {
        const after = await replay(store, history.workspace_id, snapshot);
        for (const { type } of after.entries) kinds.add(type);
        expect(after.snapshot).toEqual(fresh);
      }
    }),
    { numRuns, examples: [[EVERYTHING]] },
  );
  // A history in which nothing happens proves nothing.
  expect([...kinds].toSorted()).toEqual([
    'agent.command',
    'agent.registered',
    'agent.response',
    'ask.answered',
    'ask.raised',
    'ask.resolved',
    'control',
    'message',
    'presence',
    'result',
    'side.closed',
    'side.opened',
    'task',
    'thread.created',
    'thread.renamed',
    'thread.status',
  ]);
}

/** A refusal by the rules is an outcome like others; anything else is a fault. */
function refused(error: unknown): { reached?: [] } {
  expect(error).toMatchObject({ name: 'ParleyError' });
  expect((error as { code: string }).code).not.toBe('INTERNAL');
  return {};
}

/** All there is, read from what the store keeps beside the log. */
async function fetch(store: Store, workspace_id: string, known: ReadonlySet<string>): Promise<Snapshot> {
  const threads: Record<string, ThreadState> = {};
  const beginnings = [0, 1].map((n) => `${workspace_id}-t${n}`);
  for (const thread_id of new Set([...beginnings, ...known])) {
    const { located } = await store.page({ workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 });
    if (located.thread !== undefined) threads[thread_id] = located.thread;
  }
  const all = { workspace_id, limit: 10_000 };
  const asks = await store.records({ kind: 'ask', ...all });
  const agents: Agent[] = await store.records({ kind: 'agent', ...all });
  const snapshot: Snapshot = {
    pos: await store.position(workspace_id),
    threads,
    asks: Object.fromEntries(asks.map((ask) => [ask.ask_id, ask])),
    registrations: Object.fromEntries(
      agents.flatMap(({ agent_id, registration }) =>
        registration === undefined ? [] : [[agent_id, registration]],
      ),
    ),
  };
  // As it would come over a wire.
  return JSON.parse(JSON.stringify(snapshot)) as Snapshot;
}

/** A snapshot brought up to date by the events after it, page by page. */
async function replay(store: Store, workspace_id: string, old: Snapshot) {
  const snapshot = structuredClone(old);
  const entries: Entry[] = [];
  for (let more = true; more;) {
    const page = await store.workspace({
      workspace_id,
      participant: undefined,
      after: snapshot.pos,
      limit: 7,
      max_bytes: 1e9,
    });
    for (const { entry } of page.rows) {
      entries.push(entry);
      apply(snapshot, workspace_id, entry);
    }
    snapshot.pos = page.next;
    more = page.has_more;
  }
  return { snapshot: JSON.parse(JSON.stringify(snapshot)) as Snapshot, entries };
}

function apply({ threads, asks, registrations }: Snapshot, workspace_id: string, entry: Entry): void {
  threads[entry.thread_id] = evolve(threads[entry.thread_id], entry);
  const ask = askOf(entry);
  if (ask !== undefined) asks[ask] = evolveAsk(workspace_id, asks[ask], entry);
  if (entry.type === 'agent.registered')
    registrations[entry.sender_agent_id] = entry.metadata?.['registration'];
}
