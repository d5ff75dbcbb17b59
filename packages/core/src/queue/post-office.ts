import {
  type Caller,
  ENTRY_SALT_BOUND,
  entryUlid,
  ENVELOPE_ACTIONS,
  type EnvelopeAction,
  ParleyError,
  scopedId,
} from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import type { Order } from '../commands.ts';
import type { Hub } from '../hub.ts';
import { hubCaller } from '../hub-caller.ts';
import type { Log } from '../log.ts';
import { rateLimited } from '../quota.ts';
import type { Store } from '../store.ts';
import { journalId, workspaceTag } from '../threads/access.ts';
import { type Backoff, backoffMs } from './backoff.ts';
import type { Carrier, Ticket } from './carrier.ts';
import type { KeptDelivery, Letter } from './kept.ts';
import type { QueueEventKind, QueueObserver } from './observer.ts';
import { type Failure, failureOf, isPassing, type Outcome } from './outcome.ts';

/** An envelope that asks to be carried out later. */
interface Posted {
  caller: Caller;
  action: EnvelopeAction;
  args: Record<string, unknown>;
  idempotency_key: string;
  order: Order;
  /** The envelope is worth nothing after this moment. */
  expiresAt: number;
}

/** What was said to one who asked for another attempt. */
interface Redriven {
  delivery_id: string;
  status: KeptDelivery['status'];
  redriven: boolean;
  error?: Failure;
}

/** Accepts envelopes for later, carries them out, and keeps what cannot be carried out with the reason why. */
export interface PostOffice {
  /** Durable when it resolves; what is said of one that comes too late in its sender's order is `ignored`. */
  accept(posted: Posted): Promise<Record<string, unknown>>;
  redrive(
    caller: Caller,
    delivery: KeptDelivery,
    asked: { key: string | undefined; deadline: number | undefined },
  ): Promise<Redriven>;
  /** Takes up what waited when the hub ended. */
  start(): Promise<void>;
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export interface PostSettings {
  ackDeadlineMs: number;
  maxAttempts: number;
  backoff: Backoff;
  maxWaiting: number;
  keepDoneMs: number;
  keepDeadMs: number;
  sweepMs: number;
  idempotencyWindowMs: number;
}

export interface PostOfficeDeps {
  store: Store;
  log: Log;
  clock: Clock;
  chance: Chance;
  carrier: Carrier;
  hub: () => Pick<Hub, 'call'>;
  settings: PostSettings;
  observe: QueueObserver;
  onFault: (error: unknown) => void;
}

const ALL = 1_000_000;
const LATE = Symbol('late');
/** How long a workspace rests when its sender has used up a quota that does not say how long. */
const REST_MS = 1_000;

/** The post office of one process, over the records of the store. */
export function createPostOffice(deps: PostOfficeDeps): PostOffice {
  const { store, log, clock, chance, carrier, settings, observe, onFault } = deps;
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let issued = { at: 0, count: 0 };

  const head = (caller: Caller) => ({ caller, now: clock.now(), salt: chance.below(ENTRY_SALT_BOUND) });

  /** Ids sort in the order in which they were given, also within a millisecond. */
  function newId(workspaceId: string): string {
    issued = { at: Math.max(issued.at, clock.now()), count: issued.count + 1 };
    const unique = entryUlid(issued.at, issued.count, chance.below(ENTRY_SALT_BOUND));
    return scopedId('dlv', unique, workspaceTag(workspaceId));
  }

  function tell(kind: QueueEventKind, delivery: KeptDelivery, attempts: number, error?: Failure): void {
    const { delivery_id, workspace_id, from: agent_id, action, accepted_at } = delivery;
    const ms = Math.max(0, clock.now() - Date.parse(accepted_at));
    const event = { kind, delivery_id, workspace_id, agent_id, action, attempts, ms };
    observe(error === undefined ? event : { ...event, code: error.code });
  }

  async function find(workspace_id: string, delivery_id: string): Promise<KeptDelivery | undefined> {
    const query = { kind: 'delivery', workspace_id, keys: [delivery_id], limit: 1 } as const;
    return (await store.records(query))[0];
  }

  async function settle(delivery: KeptDelivery, outcome: Outcome): Promise<void> {
    const { workspace_id, delivery_id, from } = delivery;
    const thread_id = journalId(workspace_id, from);
    const input = { delivery_id, outcome };
    const command = { type: 'settle_delivery', ...head(hubCaller(workspace_id)), thread_id, input } as const;
    const { result } = await log.append(command);
    if (result['settled'] !== true) return;
    const attempts = delivery.attempts + 1;
    if (outcome.is === 'done') tell('delivered', delivery, attempts);
    else tell(outcome.is === 'dead' ? 'dead' : 'retried', delivery, attempts, outcome.error);
  }

  async function fail(ticket: Ticket, delivery: KeptDelivery, error: Failure): Promise<void> {
    const failures = delivery.attempts + 1;
    if (!isPassing(error) || failures >= settings.maxAttempts) return settle(delivery, { is: 'dead', error });
    const waitMs = backoffMs(settings.backoff, failures, chance);
    const next_attempt_at = new Date(clock.now() + waitMs).toISOString();
    await settle(delivery, { is: 'retry', error, next_attempt_at });
    carrier.put(ticket, waitMs);
  }

  function perform(
    { action, delivery_id, idempotency_key, expires_at }: KeptDelivery,
    letter: Letter,
    signal: AbortSignal,
  ) {
    const input = { ...letter.args, idempotency_key };
    const context = { request_id: delivery_id, signal, deadline: Date.parse(expires_at) };
    return deps.hub().call(letter.caller, ENVELOPE_ACTIONS[action], input, context);
  }

  async function attempt(ticket: Ticket): Promise<void> {
    const { workspace_id, delivery_id } = ticket;
    const delivery = await find(workspace_id, delivery_id);
    if (delivery?.status !== 'waiting') return;
    const { expires_at } = delivery;
    if (Date.parse(expires_at) < clock.now())
      return settle(delivery, {
        is: 'dead',
        error: { code: 'EXPIRED', message: `it was good until ${expires_at}` },
      });
    const [letter] = await store.records({ kind: 'letter', workspace_id, keys: [delivery_id], limit: 1 });
    if (letter === undefined)
      return settle(delivery, { is: 'dead', error: { code: 'INTERNAL', message: 'its letter is missing' } });
    const stop = new AbortController();
    const running = perform(delivery, letter, stop.signal);
    try {
      const result = await within(settings.ackDeadlineMs, running, ending.signal);
      if (result !== LATE) return await settle(delivery, { is: 'done', result });
    } catch (thrown) {
      if (ending.signal.aborted) return;
      if (!(thrown instanceof ParleyError) || thrown.code !== 'RATE_LIMITED')
        return fail(ticket, delivery, failureOf(thrown));
      const wait = thrown.details?.['retry_after_ms'];
      carrier.hold(ticket, typeof wait === 'number' ? wait : REST_MS);
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
    await fail(ticket, delivery, { code: 'UNAVAILABLE', message });
  }

  async function work(ticket: Ticket): Promise<void> {
    try {
      await attempt(ticket);
    } catch (error) {
      // The store did not take it: it still stands there as it was.
      onFault(error);
      carrier.put(ticket, settings.backoff.maxMs);
    }
  }

  async function forget(mark: 'done' | 'dead', keepMs: number): Promise<void> {
    const finished_before = new Date(clock.trusted() - keepMs).toISOString();
    const ended = await store.records({
      kind: 'delivery',
      workspace_id: undefined,
      marks: [mark],
      limit: ALL,
    });
    const old = ended.filter(({ finished_at }) => finished_at !== undefined && finished_at < finished_before);
    for (const workspace_id of new Set(old.map((one) => one.workspace_id))) {
      const delivery_ids = old
        .filter((one) => one.workspace_id === workspace_id)
        .map((one) => one.delivery_id);
      const input = { delivery_ids, finished_before };
      await log.append({ type: 'forget_deliveries', ...head(hubCaller(workspace_id)), input });
    }
  }

  async function sweep(): Promise<void> {
    await forget('done', settings.keepDoneMs);
    await forget('dead', settings.keepDeadMs);
  }

  return {
    async accept({ caller, action, args, idempotency_key, order, expiresAt }) {
      const { workspace_id } = caller;
      if (carrier.waiting(workspace_id) >= settings.maxWaiting)
        throw rateLimited(`${settings.maxWaiting} deliveries of your workspace wait already`, REST_MS);
      const delivery_id = newId(workspace_id);
      const expires_at = new Date(expiresAt).toISOString();
      const start = head(caller);
      const { result, replayed } = await log.append({
        type: 'accept_delivery',
        ...start,
        deadline: expiresAt,
        idempotency: {
          scope: `${workspace_id} queue ${action}`,
          key: idempotency_key,
          fresh_after: clock.trusted() - settings.idempotencyWindowMs,
        },
        order,
        delivery: { delivery_id, expires_at, idempotency_key },
        input: { action, args },
      });
      if (replayed || result['ignored'] === true) return result;
      carrier.put({ workspace_id, delivery_id }, 0);
      const { agent_id } = caller;
      observe({ kind: 'accepted', delivery_id, workspace_id, agent_id, action, attempts: 0, ms: 0 });
      return result;
    },
    async redrive(caller, delivery, { key, deadline }) {
      const { delivery_id, workspace_id, from } = delivery;
      const start = head(caller);
      const fresh_after = clock.trusted() - settings.idempotencyWindowMs;
      const scope = `${workspace_id} redrive ${delivery_id}`;
      const { result, replayed } = await log.append({
        type: 'redrive_delivery',
        ...start,
        ...(key === undefined ? {} : { idempotency: { scope, key, fresh_after } }),
        ...(deadline === undefined ? {} : { deadline }),
        thread_id: journalId(workspace_id, from),
        input: { delivery_id },
      });
      const said = result as unknown as Redriven;
      if (said.redriven && !replayed) {
        tell('redriven', delivery, 0);
        carrier.put({ workspace_id, delivery_id }, 0);
      }
      return said;
    },
    async start() {
      const query = { kind: 'delivery', workspace_id: undefined, marks: ['waiting'], limit: ALL } as const;
      for (const { workspace_id, delivery_id, next_attempt_at } of await store.records(query)) {
        const waitMs = next_attempt_at === undefined ? 0 : Date.parse(next_attempt_at) - clock.now();
        // A clock that was set back must not make anybody wait for longer than a failure does.
        carrier.put({ workspace_id, delivery_id }, Math.min(waitMs, settings.backoff.maxMs));
      }
      carrier.start(work);
      timer = setInterval(() => void sweep().catch(onFault), settings.sweepMs).unref();
      await sweep().catch(onFault);
    },
    sweep,
    async close() {
      clearInterval(timer);
      const closed = carrier.close();
      ending.abort();
      await closed;
    },
  };
}

/** What a promise gives in time, or that it was late; an end comes at once. */
async function within<T>(ms: number, running: Promise<T>, end: AbortSignal): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  let stop: () => void = () => {};
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
    stop = () => resolve(LATE);
    end.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
    end.removeEventListener('abort', stop);
  }
}
