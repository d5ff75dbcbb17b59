import {
  type Caller,
  CONTRACTS,
  entryUlid,
  ENVELOPE_ACTIONS,
  type EnvelopeAction,
  ParleyError,
  scopedId,
  type Trace,
} from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import { commandHead } from '../command-head.ts';
import type { Order, ResultOf } from '../commands.ts';
import { type Authority, whyTakenBack, withElders } from '../devices/authority.ts';
import type { Grant } from '../devices/grant.ts';
import type { Hub } from '../gate.ts';
import { hubCaller } from '../hub-caller.ts';
import type { Log } from '../log.ts';
import { rateLimited } from '../quota.ts';
import { onAbort } from '../on-abort.ts';
import { everyRecord, takeDue } from '../record-pages.ts';
import { isIgnored } from '../results.ts';
import type { Store } from '../store.ts';
import { journalId, workspaceTag } from '../threads/access.ts';
import { type Backoff, backoffMs } from './backoff.ts';
import type { Dispatcher, DueDelivery } from './dispatcher.ts';
import { createEta } from './eta.ts';
import type { DeliveryRecord, DeliveryBody } from './delivery-record.ts';
import type { QueueEventKind, QueueObserver } from './observer.ts';
import { type Failure, failureOf, isPassing, type DeliveryOutcome } from './outcome.ts';

/** An envelope that asks to be carried out later. */
interface Posted {
  caller: Caller;
  /** What the right of its sender rests on. */
  grant?: Grant | undefined;
  action: EnvelopeAction;
  args: Record<string, unknown>;
  idempotency_key: string;
  order: Order;
  /** The envelope is worth nothing after this moment. */
  expiresAt: number;
  trace?: Trace | undefined;
}

/** Accepts envelopes for later, carries them out, and keeps what cannot be carried out with the reason why. */
export interface DeliveryQueue {
  /** Durable when it resolves; what is said of one that comes too late in its sender's order is `ignored`. */
  accept(posted: Posted): Promise<ResultOf<'accept_delivery'>>;
  redrive(
    caller: Caller,
    delivery: DeliveryRecord,
    asked: { key: string | undefined; deadline: number | undefined },
  ): Promise<ResultOf<'redrive_delivery'>>;
  /** Takes up what waited when the hub ended; from now on it is carried out through this gate. */
  start(hub: Pick<Hub, 'call'>): Promise<void>;
  /** Another node has accepted a delivery: it is carried out here, if that is this one's job. */
  heard(due: DueDelivery): void;
  /** Takes up what waits although nothing of its workspace is known here: the word of another node may be lost. */
  lookAgain(): Promise<void>;
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export interface QueueSettings {
  ackDeadlineMs: number;
  maxAttempts: number;
  backoff: Backoff;
  maxWaiting: number;
  keepDoneMs: number;
  keepDeadMs: number;
  sweepMs: number;
  idempotencyWindowMs: number;
  /** How many of one workspace are carried out at once. */
  concurrent: number;
}

export interface DeliveryQueueDeps {
  authority: Pick<Authority, 'ended' | 'fresh'>;
  store: Store;
  log: Log;
  /** Whether this process carries deliveries out, and the log as it then writes what became of them. */
  job?: { readonly isOwned: boolean; log(log: Log): Log };
  /** Hears of what was accepted here and is another node's to carry out. */
  onForeign?: (due: DueDelivery) => void;
  clock: Clock;
  chance: Chance;
  dispatcher: Dispatcher;
  settings: QueueSettings;
  observe: QueueObserver;
  onFault: (error: unknown) => void;
}

const LATE = Symbol('late');
/** What waits for so long with nobody at it was not heard of. */
const LATE_MS = 2_000;
/** How long a workspace rests when its sender has used up a quota that does not say how long. */
const REST_MS = 1_000;

/** The delivery queue of one process, over the records of the store. */
export function createDeliveryQueue(deps: DeliveryQueueDeps): DeliveryQueue {
  const { store, log, job, clock, chance, authority, dispatcher, settings, observe, onFault } = deps;
  const eta = createEta(settings.concurrent);
  const ownLog = job?.log(log) ?? log;
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let issued = { at: 0, count: 0 };

  const head = (caller: Caller) => commandHead(deps, caller);

  /** Ids sort in the order in which they were given, also within a millisecond. */
  function newId(workspaceId: string, salt: number): string {
    issued = { at: Math.max(issued.at, clock.now()), count: issued.count + 1 };
    return scopedId('dlv', entryUlid(issued.at, issued.count, salt), workspaceTag(workspaceId));
  }

  function tell(kind: QueueEventKind, delivery: DeliveryRecord, attempts: number, error?: Failure): void {
    const { delivery_id, workspace_id, from: agent_id, action, accepted_at } = delivery;
    const now = clock.now();
    const ms = Math.max(0, now - Date.parse(accepted_at));
    const late = delivery.eta === undefined ? {} : { pastEtaMs: now - Date.parse(delivery.eta) };
    const event = { kind, delivery_id, workspace_id, agent_id, action, attempts, ms, ...late };
    observe(error === undefined ? event : { ...event, code: error.code });
  }

  /** By when the next delivery of a workspace will be done; never after its time. */
  function etaIn(workspace_id: string, expiresAt: number): string {
    const at = clock.now() + eta.after(dispatcher.waiting(workspace_id));
    return new Date(Math.min(at, expiresAt)).toISOString();
  }

  /** What its writer was told of as an error may be durable all the same; an attempt at what is not there does nothing. */
  const orDurable =
    (due: { workspace_id: string; delivery_id: string }) =>
    (error: unknown): never => {
      put(due);
      throw error;
    };

  function put(due: DueDelivery): void {
    if (deps.onForeign !== undefined && job?.isOwned === false) deps.onForeign(due);
    else dispatcher.put(due, 0);
  }

  async function find(workspace_id: string, delivery_id: string): Promise<DeliveryRecord | undefined> {
    const query = { kind: 'delivery', workspace_id, keys: [delivery_id], limit: 1 } as const;
    return (await store.records(query))[0];
  }

  async function settle(delivery: DeliveryRecord, outcome: DeliveryOutcome): Promise<void> {
    const { workspace_id, delivery_id, from } = delivery;
    const thread_id = journalId(workspace_id, from);
    const input = { delivery_id, outcome };
    const command = { type: 'settle_delivery', ...head(hubCaller(workspace_id)), thread_id, input } as const;
    const { result } = await ownLog.append(command);
    if (!result.settled) return;
    const attempts = delivery.attempts + 1;
    if (outcome.is === 'done') tell('delivered', delivery, attempts);
    else tell(outcome.is === 'dead' ? 'dead' : 'retried', delivery, attempts, outcome.error);
  }

  async function fail(due: DueDelivery, delivery: DeliveryRecord, error: Failure): Promise<void> {
    const failures = delivery.attempts + 1;
    if (!isPassing(error) || failures >= settings.maxAttempts) return settle(delivery, { is: 'dead', error });
    const waitMs = backoffMs(settings.backoff, failures, chance);
    const next_attempt_at = new Date(clock.now() + waitMs).toISOString();
    await settle(delivery, { is: 'retry', error, next_attempt_at });
    dispatcher.put(due, waitMs);
  }

  function perform(
    hub: Pick<Hub, 'call'>,
    { action, delivery_id, idempotency_key, expires_at }: DeliveryRecord,
    body: DeliveryBody,
    signal: AbortSignal,
  ) {
    const { caller, args, trace } = body;
    const operation = ENVELOPE_ACTIONS[action];
    const context = { request_id: delivery_id, signal, trace, deadline: Date.parse(expires_at) };
    return CONTRACTS[operation].annotations.readOnlyHint
      ? hub.call(caller, operation, args, { ...context, read_key: idempotency_key })
      : hub.call(caller, operation, { ...args, idempotency_key }, context);
  }

  /** Nobody's right outlives its end by having been sent for later. */
  async function whyEnded(body: DeliveryBody): Promise<string | undefined> {
    const [granted = { value: body, elders: [] }] = await withElders(deps, [body]);
    return whyTakenBack(granted, authority);
  }

  async function attempt(hub: Pick<Hub, 'call'>, due: DueDelivery): Promise<void> {
    const { workspace_id, delivery_id } = due;
    const delivery = await find(workspace_id, delivery_id);
    if (delivery?.status !== 'waiting') return;
    const { expires_at, action } = delivery;
    // A write may have been carried out before its hub fell: its key tells, and if not, the store refuses what is too late.
    if (Date.parse(expires_at) < clock.now() && CONTRACTS[ENVELOPE_ACTIONS[action]].annotations.readOnlyHint)
      return settle(delivery, {
        is: 'dead',
        error: { code: 'EXPIRED', message: `it was good until ${expires_at}` },
      });
    const [body] = await store.records({
      kind: 'delivery_body',
      workspace_id,
      keys: [delivery_id],
      limit: 1,
    });
    if (body === undefined)
      return settle(delivery, { is: 'dead', error: { code: 'INTERNAL', message: 'its body is missing' } });
    const ended = await whyEnded(body);
    if (ended !== undefined)
      return settle(delivery, { is: 'dead', error: { code: 'UNAUTHORIZED', message: ended } });
    const stop = new AbortController();
    const begun = clock.monotonic();
    const running = perform(hub, delivery, body, stop.signal);
    const timed = (): void => eta.took(clock.monotonic() - begun);
    void running.then(timed, timed);
    try {
      const result = await within(settings.ackDeadlineMs, running, ending.signal);
      if (result !== LATE) return await settle(delivery, { is: 'done', result });
    } catch (thrown) {
      if (!(thrown instanceof ParleyError) || thrown.code !== 'RATE_LIMITED')
        return fail(due, delivery, failureOf(thrown));
      const wait = thrown.details?.['retry_after_ms'];
      dispatcher.hold(due, typeof wait === 'number' ? wait : REST_MS);
      return;
    }
    stop.abort();
    // What was begun when the hub ends still waits in the store: the next hub begins it anew.
    if (ending.signal.aborted) return;
    // Its worker goes on; if it comes to an end after all, that counts.
    running.then(
      (result) => settle(delivery, { is: 'done', result }).catch(onFault),
      () => {},
    );
    const message = `it was not done within ${settings.ackDeadlineMs} ms`;
    await fail(due, delivery, { code: 'UNAVAILABLE', message });
  }

  async function work(hub: Pick<Hub, 'call'>, due: DueDelivery): Promise<void> {
    // Whoever has the job takes up all that waits.
    if (job?.isOwned === false && deps.onForeign !== undefined) return deps.onForeign(due);
    if (job?.isOwned === false) return dispatcher.put(due, settings.backoff.maxMs);
    try {
      await attempt(hub, due);
    } catch (error) {
      // The store did not take it: it still stands there as it was.
      onFault(error);
      dispatcher.put(due, settings.backoff.maxMs);
    }
  }

  async function forget(mark: 'done' | 'dead', keepMs: number): Promise<void> {
    const finished_before = new Date(clock.trusted() - keepMs).toISOString();
    const query = { kind: 'delivery', mark, due_by: finished_before } as const;
    await takeDue(store, query, async (workspace_id, old) => {
      const input = { delivery_ids: old.map((one) => one.delivery_id), finished_before };
      await ownLog.append({ type: 'forget_deliveries', ...head(hubCaller(workspace_id)), input });
    });
  }

  async function sweep(): Promise<void> {
    await forget('done', settings.keepDoneMs);
    await forget('dead', settings.keepDeadMs);
  }

  return {
    async accept({ caller, grant, action, args, idempotency_key, order, expiresAt, trace }) {
      const { workspace_id } = caller;
      if (dispatcher.waiting(workspace_id) >= settings.maxWaiting)
        throw rateLimited(`${settings.maxWaiting} deliveries of your workspace wait already`, REST_MS);
      const start = head(caller);
      const delivery_id = newId(workspace_id, start.salt);
      const expires_at = new Date(expiresAt).toISOString();
      const accepting = log.append({
        type: 'accept_delivery',
        ...start,
        deadline: expiresAt,
        idempotency: {
          scope: `${workspace_id} queue ${action}`,
          key: idempotency_key,
          fresh_after: clock.trusted() - settings.idempotencyWindowMs,
        },
        order,
        ...(trace === undefined ? {} : { trace }),
        ...(grant === undefined ? {} : { grant }),
        delivery: { delivery_id, eta: etaIn(workspace_id, expiresAt), expires_at, idempotency_key },
        input: { action, args },
      });
      const { result, replayed } = await accepting.catch(orDurable({ workspace_id, delivery_id }));
      if (replayed || isIgnored(result)) return result;
      put({ workspace_id, delivery_id });
      const { agent_id } = caller;
      observe({ kind: 'accepted', delivery_id, workspace_id, agent_id, action, attempts: 0, ms: 0 });
      return result;
    },
    async redrive(caller, delivery, { key, deadline }) {
      const { delivery_id, workspace_id, from } = delivery;
      const start = head(caller);
      const fresh_after = clock.trusted() - settings.idempotencyWindowMs;
      const scope = `${workspace_id} redrive ${delivery_id}`;
      const redriving = log.append({
        type: 'redrive_delivery',
        ...start,
        ...(key === undefined ? {} : { idempotency: { scope, key, fresh_after } }),
        ...(deadline === undefined ? {} : { deadline }),
        thread_id: journalId(workspace_id, from),
        eta: etaIn(workspace_id, Date.parse(delivery.expires_at)),
        input: { delivery_id },
      });
      const { result, replayed } = await redriving.catch(orDurable({ workspace_id, delivery_id }));
      if (result.redriven && !replayed) {
        tell('redriven', delivery, 0);
        put({ workspace_id, delivery_id });
      }
      return result;
    },
    async start(hub) {
      const waiting = everyRecord(store, 'delivery', 'waiting', (one) => one.delivery_id);
      for await (const { workspace_id, delivery_id, next_attempt_at } of waiting) {
        const waitMs = next_attempt_at === undefined ? 0 : Date.parse(next_attempt_at) - clock.now();
        // A clock that was set back must not make anybody wait for longer than a failure does.
        dispatcher.resume({ workspace_id, delivery_id }, Math.min(waitMs, settings.backoff.maxMs));
      }
      dispatcher.start((due) => work(hub, due));
      timer ??= setInterval(() => void sweep().catch(onFault), settings.sweepMs).unref();
      await sweep().catch(onFault);
    },
    async lookAgain() {
      if (job?.isOwned === false) return;
      const late = clock.now() - LATE_MS;
      for await (const one of everyRecord(store, 'delivery', 'waiting', ({ delivery_id }) => delivery_id)) {
        const { workspace_id, delivery_id, next_attempt_at, accepted_at } = one;
        const isLate = Date.parse(next_attempt_at ?? accepted_at) < late;
        if (isLate && dispatcher.waiting(workspace_id) === 0)
          dispatcher.resume({ workspace_id, delivery_id }, 0);
      }
    },
    heard(due) {
      if (job?.isOwned !== false) dispatcher.resume(due, 0);
    },
    sweep,
    async close() {
      clearInterval(timer);
      const closed = dispatcher.close();
      ending.abort();
      await closed;
    },
  };
}

/** What a promise gives in time, or that it was late; an end comes at once. */
async function within<T>(ms: number, running: Promise<T>, end: AbortSignal): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  let stay: () => void = () => {};
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
    stay = onAbort(end, () => resolve(LATE));
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
    stay();
  }
}
