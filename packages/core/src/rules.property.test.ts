import type { Caller, Role, ThreadStatus } from '@parley/protocol';
import { messageId } from '@parley/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Command, Idempotency } from './commands.ts';
import { type Entry, link } from './entry.ts';
import { openMemoryStore } from './store-memory.ts';
import type { Committed, Store } from './store.ts';
import { evolve, type ThreadState } from './threads/state.ts';

const THREADS = ['t0', 't1'];
const AGENTS = ['alice', 'bob', 'carol'];
const ROLES: Role[] = ['operator', 'orchestrator', 'worker', 'observer'];
const STATUSES: ThreadStatus[] = ['active', 'blocked', 'resolved', 'closed'];
const EVENTS = [
  'finding_reported',
  'finding_verified',
  'finding_rejected',
  'thread_escalated',
  'thread_resolved',
  're_review_requested',
  'other',
];
const START = Date.UTC(2030, 0, 1);

const caller: fc.Arbitrary<Caller> = fc
  .tuple(fc.constantFrom(...AGENTS), fc.constantFrom(...ROLES), fc.constantFrom('w1', 'w1', 'w1', 'w2'))
  .map(([agent_id, role, workspace_id]) => ({ agent_id, role, workspace_id, session_id: `${agent_id}-1` }));

const head = { caller, now: fc.integer({ min: START - 10_000, max: START + 10_000 }), salt: fc.nat(1_000) };
const thread_id = fc.constantFrom(...THREADS, 'unknown');
const key = fc.option(fc.constantFrom('k1', 'k2', 'k3'), { nil: undefined });

const post = fc
  .record({
    ...head,
    thread_id,
    key,
    body: fc.constantFrom('a', 'b'),
    event: fc.option(fc.constantFrom(...EVENTS), { nil: undefined }),
    finding: fc.option(fc.constantFrom('F1', 'F2'), { nil: undefined }),
    replyTo: fc.option(fc.nat(6), { nil: undefined }),
  })
  .map(({ key: idempotency_key, body, event, finding, replyTo, ...rest }) => {
    const metadata =
      event === undefined
        ? undefined
        : { event_type: event, ...(finding === undefined ? {} : { finding_id: finding }) };
    const content = {
      schema_version: 1,
      kind: event === undefined ? ('chat' as const) : ('event' as const),
      body,
      ...(metadata === undefined ? {} : { metadata }),
      ...(replyTo === undefined ? {} : { in_reply_to: `seq ${replyTo}` }),
    };
    return { type: 'post_message' as const, ...rest, input: content, key: idempotency_key };
  });
const status = fc
  .record({ ...head, thread_id, status: fc.constantFrom(...STATUSES) })
  .map(({ status: to, ...rest }) => ({
    type: 'update_status' as const,
    ...rest,
    input: { status: to, reason: 'x' },
  }));
const ack = fc
  .record({ ...head, thread_id, seq: fc.nat(12) })
  .map(({ seq, ...rest }) => ({ type: 'ack_read' as const, ...rest, input: { last_read_seq: seq } }));
const beat = fc.record(head).map((rest) => ({
  type: 'heartbeat' as const,
  ...rest,
  input: { runtime: 'x', status: 'idle' as const, resumable: false, management_mode: 'managed' as const },
}));
const step = fc.oneof(
  { weight: 6, arbitrary: post },
  { weight: 2, arbitrary: status },
  { weight: 2, arbitrary: ack },
  beat,
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A step as a command: a reply names the message that really stands at its seq, where there is one. */
async function toCommand(store: Store, made: Step): Promise<Command> {
  if (made.type !== 'post_message') return made;
  const { key: idempotency_key, ...command } = made;
  const input = { ...command.input };
  const wanted = /^seq (\d+)$/.exec(input.in_reply_to ?? '')?.[1];
  if (wanted !== undefined) {
    const page = await store.page({
      workspace_id: 'w1',
      thread_id: made.thread_id,
      after: Math.max(0, Number(wanted) - 1),
      limit: 1,
      max_bytes: 1,
    });
    input.in_reply_to = page.entries[0]?.message_id ?? messageId('unknown');
  }
  if (idempotency_key === undefined) return { ...command, input };
  const scope = `${made.caller.workspace_id} ${made.thread_id}`;
  const idempotency: Idempotency = {
    scope,
    key: idempotency_key,
    fresh_after: 0,
  };
  return { ...command, input: { ...input, idempotency_key }, idempotency };
}

async function attempt(store: Store, command: Command): Promise<Committed | undefined> {
  try {
    return await store.transact(command);
  } catch (error) {
    expect(error).toMatchObject({ name: 'ParleyError' });
    expect((error as { code: string }).code).not.toBe('INTERNAL');
    return undefined;
  }
}

async function logOf(store: Store, id: string): Promise<{ entries: Entry[]; state: ThreadState }> {
  const page = await store.page({ workspace_id: 'w1', thread_id: id, after: -1, limit: 1e6, max_bytes: 1e9 });
  if (page.located.thread === undefined) throw new Error(`${id} is not there`);
  return { entries: page.entries, state: page.located.thread };
}

function create(id: string): Command {
  const creator = { agent_id: 'alice', workspace_id: 'w1', role: 'worker' as const, session_id: 'alice-1' };
  return {
    type: 'create_thread',
    caller: creator,
    now: START,
    salt: 0,
    thread_id: id,
    input: { title: id, type: 'workflow', participants: ['bob'] },
  };
}

test('[R2] [R3] [R5] whatever is tried, the log stays whole and the state is what the log says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
      const store = openMemoryStore();
      for (const id of THREADS) await store.transact(create(id));
      const readBy = new Map<string, number>();
      for (const made of steps) {
        const command = await toCommand(store, made);
        const lengths = await Promise.all(THREADS.map(async (id) => (await logOf(store, id)).entries.length));
        const committed = await attempt(store, command);
        const grown = await Promise.all(THREADS.map(async (id) => (await logOf(store, id)).entries.length));
        if (committed === undefined || committed.replayed) expect(grown).toEqual(lengths);
        for (const id of THREADS) {
          for (const { agent_id, last_read_seq } of await store.cursors(id, 'w1')) {
            const reader = `${id} ${agent_id}`;
            expect(last_read_seq).toBeGreaterThanOrEqual(readBy.get(reader) ?? 0);
            readBy.set(reader, last_read_seq);
          }
        }
      }
      for (const id of THREADS) await checkLog(store, id);
    }),
    { numRuns: 150 },
  );
});

async function checkLog(store: Store, id: string): Promise<void> {
  const { entries, state } = await logOf(store, id);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i));
  expect(entries.reduce<ThreadState | undefined>(evolve, undefined)).toEqual(state);
  const ids = entries.map(({ message_id }) => message_id);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  const times = entries.map(({ created_at }) => created_at);
  expect(times.toSorted()).toEqual(times);
  const keys = entries.flatMap(({ sender_agent_id, idempotency_key }) =>
    idempotency_key === undefined ? [] : [`${sender_agent_id} ${idempotency_key}`],
  );
  expect(new Set(keys).size).toBe(keys.length);
  for (const entry of entries) {
    if (entry.in_reply_to !== undefined) expect(ids.slice(1, entry.seq)).toContain(entry.in_reply_to);
    // Only the workspace's own people, and no observer, have spoken.
    expect(AGENTS).toContain(entry.sender_agent_id);
  }
  const closed = entries.findIndex(
    ({ type, metadata }) => type === 'thread.status' && metadata?.['to'] === 'closed',
  );
  const next = closed < 0 ? undefined : entries[closed + 1];
  if (next !== undefined) expect(next.metadata).toMatchObject({ from: 'closed', to: 'active' });
}

test('[R11] the hash of an entry depends on every byte of it and of all before it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string(), { minLength: 1, maxLength: 8 }),
      fc.nat(),
      fc.string(),
      (texts, at, other) => {
        const place = at % texts.length;
        fc.pre(texts[place] !== other);
        const chain = (list: string[]): string => list.reduce((before, text) => link(before, text), '');
        expect(chain(texts.with(place, other))).not.toBe(chain(texts));
        expect(chain(texts)).toBe(chain([...texts]));
      },
    ),
  );
});
