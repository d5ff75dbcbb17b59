import type { Caller } from '@parley/protocol';

import { requireDone } from '../envelope/order.ts';
import { createFeed } from '../feed.ts';
import { createLog } from '../log.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';
import { createDeliveryQueue, type QueueSettings } from './delivery-queue.ts';
import type { Dispatcher } from './dispatcher.ts';
import { createFairDispatcher } from './fair-dispatcher.ts';
import type { QueueEvent } from './observer.ts';
import { createSampleDueStream } from './sample-due-stream.ts';
import { createStreamDispatcher } from './stream-dispatcher.ts';

/** Who sends what nobody else is named for. */
export const ed: Caller = { agent_id: 'ed', workspace_id: 'a', role: 'orchestrator', session_id: 's' };
const SETTINGS: QueueSettings = {
  ackDeadlineMs: 30_000,
  maxAttempts: 5,
  backoff: { firstMs: 1_000, maxMs: 60_000 },
  maxWaiting: 20_000,
  keepDoneMs: 86_400_000,
  keepDeadMs: 30 * 86_400_000,
  sweepMs: 3_600_000,
  idempotencyWindowMs: 86_400_000,
  concurrent: 4,
};

export type Handler = (
  args: Record<string, unknown>,
  caller: Caller,
  signal: AbortSignal,
  deadline: number | undefined,
) => Promise<object>;

/** Lines in memory, and a stream that nodes share: what the queue promises it promises over both. */
export const DISPATCHERS: [name: string, make: () => Dispatcher][] = [
  ['lines in memory', () => createFairDispatcher({ perWorkspace: 4, atOnce: 16 })],
  [
    'a stream between nodes',
    () => {
      const lines = createFairDispatcher({ perWorkspace: 4, atOnce: 16 });
      return createStreamDispatcher(createSampleDueStream().stream, lines, () => {
        throw new Error('it is open');
      });
    },
  ],
];
/** A delivery queue over a store whose time the test moves, with one who carries out. */
export async function openSampleQueue(
  dispatcher: Dispatcher,
  handler: Handler,
  more: { store?: Store; settings?: Partial<QueueSettings> } = {},
) {
  const { store = openMemoryStore(), settings = {} } = more;
  const log = createLog(store, createFeed());
  const events: (QueueEvent & { at: number })[] = [];
  let drawn = 0;
  const clock = { now: () => Date.now(), monotonic: () => performance.now(), trusted: () => Date.now() };
  const chance = {
    bytes: (count: number) => new Uint8Array(count),
    below: (bound: number) => (drawn += 7_919) % bound,
  };
  const office = createDeliveryQueue({
    authority: { ended: () => false },
    store,
    log,
    clock,
    chance,
    dispatcher,
    settings: { ...SETTINGS, ...settings },
    observe: (event) => events.push({ ...event, at: Date.now() }),
    onFault: (error) => {
      throw error;
    },
  });
  await office.start({
    call: async (caller, _name, input, { signal, deadline }) =>
      (await handler(input as Record<string, unknown>, caller, signal, deadline)) as never,
  });
  let seq = 0;
  const post = async (n: string, who: Partial<Caller> = {}, ttlMs = 86_400_000) =>
    requireDone(
      await office.accept({
        caller: { ...ed, ...who },
        action: 'knowledge.create_document',
        args: { n },
        idempotency_key: `key-${n}`,
        order: { context_id: 'c', seq: ++seq },
        expiresAt: Date.now() + ttlMs,
      }),
    );
  const find = async (id: unknown) =>
    (await store.records({ kind: 'delivery', workspace_id: 'a', keys: [String(id)], limit: 1 }))[0];
  const kinds = () => events.map(({ kind }) => kind);
  return { office, store, events, kinds, post, find };
}
