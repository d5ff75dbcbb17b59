import {
  createArrivals,
  createAskKeeper,
  createCallFollower,
  createDeliveryQueue,
  createFairDispatcher,
  createFeed,
  createForgetKeeper,
  createHub,
  createInvitations,
  createLeases,
  createLog,
  createMuteKeeper,
  createNonceKeeper,
  createNotifier,
  createOffers,
  createOwnedJob,
  createPresenceBoard,
  createProfileRegistry,
  createQuotas,
  createReads,
  createReturns,
  createSloWindow,
  createTreeKeeper,
  createUnreadCache,
  createWaitingSessions,
  createWaker,
  type DeliveryQueue,
  type Door,
  type Hub,
  type JobName,
  keepForgettingKeys,
  type Log,
  type Messenger,
  openTimeKeeper,
  type Ports,
  type QueueEvent,
  startFeedPoll,
  type Store,
} from '@parley/core';

import { ABSENT_PORTS } from '../../packages/core/src/sample-ports.ts';
import { ConfigSchema } from '../../packages/hub/src/config/schema.ts';
import {
  notifySettings,
  queueSettings,
  quotaSettings,
  wakeSettings,
} from '../../packages/hub/src/part-settings.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A hub in the simulated world, from its start until it dies. */
export interface Node {
  hub: Hub;
  log: Log;
  deliveryQueue: DeliveryQueue;
  close(): Promise<void>;
}

export interface NodeDeps {
  store: Store;
  time: VirtualTime;
  random: Random;
  doors: readonly Door[];
  messenger: Messenger;
  /** How long dead letters are kept; a month unless it is told. */
  keepDeadMs: number | undefined;
  /** Hears of everything that became of deliveries. */
  observe: (event: QueueEvent) => void;
  onFault: (error: unknown) => void;
}

/**
 * As it stands in a hub that nobody has configured, but so narrow that its limits are met: two deliveries at once in
 * all, sixty messages at once of one caller.
 */
const CONFIG = ConfigSchema.parse({
  data: '/nowhere',
  quota: { messages_per_minute: 600, messages_burst: 60 },
  queue: { concurrent: 2, tenant_concurrent: 2 },
});
const PATIENCE = {
  stuckAfterMs: CONFIG.sessions.stuck_after_ms,
  offlineAfterMs: CONFIG.sessions.offline_after_ms,
  unreadStuckMs: CONFIG.sessions.unread_stuck_ms,
  returnMs: CONFIG.sessions.return_ms,
};

/** Builds the gate and all that works behind it in the order of the hub's own start, over a store that may fail. */
export async function startNode(deps: NodeDeps): Promise<Node> {
  const { store, time, random, keepDeadMs, onFault } = deps;
  const chance = {
    bytes: (count: number) => Uint8Array.from({ length: count }, () => random.below(256)),
    below: (bound: number) => random.below(bound),
  };
  const feed = createFeed();
  const leases = createLeases({ store, clock: time, chance });
  const own = (name: JobName) => createOwnedJob({ leases, onFault }, name);
  const jobs = {
    clock: own('clock'),
    asks: own('asks'),
    mutes: own('mutes'),
    tree: own('tree'),
    nonces: own('nonces'),
    forgetting: own('forgetting'),
    queue: own('queue'),
    wakes: own('wakes'),
    notifications: own('notifications'),
  };
  const timeKeeper = await openTimeKeeper({
    store: jobs.clock.store(store),
    clock: time,
    chance,
    uptime: time.monotonic,
    onJump: () => {},
    onFault,
  });
  const clock = { now: time.now, monotonic: time.monotonic, trusted: () => timeKeeper.trusted() };
  const idempotencyWindowMs = CONFIG.idempotency.window_ms;
  const stopForgettingKeys = keepForgettingKeys(store, clock, idempotencyWindowMs);
  const unread = createUnreadCache({ store, clock, patience: PATIENCE, offers: () => offers });
  const offers = createOffers(store, clock, chance, onFault, unread.forget);
  const poll = startFeedPoll({ store, feed, clock, onFault });
  const log = createLog(store, feed, (command, committed) => {
    unread.noticed(command, committed);
    if (committed.reached !== undefined) poll.heard(committed.reached);
  });
  const record = { store, log, feed, clock, chance, offers, unread, idempotencyWindowMs };

  const links: Ports['links'] = { of: () => new Map(), session: () => undefined, size: 0 };
  const arrivals = createArrivals({ monotonic: clock.monotonic, silentMs: PATIENCE.offlineAfterMs });
  const commander = { command: () => Promise.reject(new Error('nobody is connected')) };
  const agents = { links, commander, arrivals, patience: PATIENCE };
  const authority: Ports['authority'] = { of: () => ({ kid: 'simulated', devices: [] }), ended: () => false };
  const ownLog = jobs.asks.log(log);
  const asks = createAskKeeper({ ...record, ownLog, links, patience: PATIENCE, onGone: () => {}, onFault });

  const waitingSessions = createWaitingSessions(clock.monotonic);
  const wakerDeps = {
    ...record,
    log: jobs.wakes.log(log),
    store: jobs.wakes.store(store),
    ...agents,
    prose: undefined,
    doors: new Map(deps.doors.map((door) => [door.name, door])),
    settings: wakeSettings(CONFIG.wake),
    wakeProfiles: [],
    waitingSessions,
    onFault,
  };
  const waker = createWaker(wakerDeps);
  const returns = createReturns({ ...wakerDeps, waker });
  const calls = createCallFollower({
    ...wakerDeps,
    waker,
    graceMs: CONFIG.wake.grace_ms,
    hears: (...which) => log.hears(...which),
  });
  arrivals.watch((who) => returns.came(who));

  const deliveryQueue = createDeliveryQueue({
    ...record,
    job: jobs.queue,
    authority,
    dispatcher: createFairDispatcher({
      perWorkspace: CONFIG.queue.tenant_concurrent,
      atOnce: CONFIG.queue.concurrent,
    }),
    settings: { ...queueSettings(CONFIG), ...(keepDeadMs === undefined ? {} : { keepDeadMs }) },
    observe: deps.observe,
    onFault,
  });
  const presence = createPresenceBoard(clock);
  const ports: Ports = {
    ...ABSENT_PORTS,
    ...record,
    ...agents,
    quotas: createQuotas(quotaSettings(CONFIG.quota), clock),
    reads: createReads({ ...record, maxBytes: CONFIG.envelope.kept_read_bytes }),
    presence,
    profiles: createProfileRegistry(undefined, () => {}),
    mutes: createMuteKeeper(store, jobs.mutes.log(log), clock, chance, onFault),
    presenceTtlMs: CONFIG.presence.ttl_ms,
    asks,
    waker,
    waitingSessions,
    deliveryQueue,
    invitations: createInvitations(clock, chance),
    authority,
    messenger: deps.messenger,
    slo: createSloWindow(clock),
  };
  const fenced = (job: (typeof jobs)['tree']) => ({
    ...ports,
    log: job.log(log),
    store: job.store(store),
    onFault,
  });
  const everyMs = CONFIG.knowledge.sweep_ms;
  const tree = createTreeKeeper({ ...fenced(jobs.tree), everyMs });
  const nonces = createNonceKeeper({ ...fenced(jobs.nonces), everyMs });
  const { forget_once_after_ms: afterMs } = CONFIG.sessions;
  const forgetting = createForgetKeeper({ ...fenced(jobs.forgetting), afterMs });
  const notifier = createNotifier({
    ...fenced(jobs.notifications),
    settings: notifySettings(CONFIG.notify),
  });
  await jobs.asks.start(() => asks.start());
  await jobs.mutes.start(() => ports.mutes.start());
  await jobs.tree.start(() => tree.start());
  await jobs.nonces.start(() => nonces.start());
  await jobs.forgetting.start(async () => forgetting.start());
  const hub = createHub(ports, ({ cause }) => cause === undefined || onFault(cause), { checkAnswers: true });
  await jobs.queue.start(() => deliveryQueue.start(hub));
  await jobs.wakes.start(async () => {
    await waker.start();
    returns.start();
    await calls.start();
  });
  await jobs.notifications.start(() => notifier.start());
  return {
    hub,
    log,
    deliveryQueue,
    async close() {
      await deliveryQueue.close();
      await notifier.close();
      await calls.close();
      await returns.close();
      await waker.close();
      asks.close();
      ports.mutes.close();
      tree.close();
      nonces.close();
      forgetting.close();
      presence.close();
      await offers.flush();
      stopForgettingKeys();
      await poll.close();
      await timeKeeper.close();
      for (const job of Object.values(jobs)) await job.close();
    },
  };
}
