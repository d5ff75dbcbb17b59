import type { Caller, OperationName } from '@parley/protocol';

import { createUnreadCache } from './agents/unread-cache.ts';
import { createAskKeeper } from './asks/keeper.ts';
import { createInvitations } from './devices/invitations.ts';
import { createReads } from './envelope/reads.ts';
import { createSloWindow } from './envelope/slo-window.ts';
import { createOffers } from './evidence/offers.ts';
import { createFeed } from './feed.ts';
import { createHub } from './hub.ts';
import { createLog } from './log.ts';
import type { Ports } from './ports.ts';
import { createMuteKeeper } from './participation/mute-keeper.ts';
import { createPresenceBoard } from './participation/presence.ts';
import { createProfileRegistry } from './participation/profile-registry.ts';
import { createQuotas } from './quota.ts';
import { ABSENT_PORTS } from './sample-ports.ts';
import type { Store } from './store.ts';
import { createArrivals } from './wake/arrivals.ts';
import { createWaitingSessions } from './wake/waiting-sessions.ts';

/** A hub over a store, with a clock that the test moves. */
export interface SampleHub {
  deps: Ports;
  call: (caller: Caller, name: OperationName, input: object, signal?: AbortSignal) => Promise<unknown>;
}

const PATIENCE = {
  stuckAfterMs: 60_000,
  offlineAfterMs: 120_000,
  unreadStuckMs: 600_000,
  returnMs: 30_000,
};
const PLENTY = { per_minute: 1e9, burst: 1e9 };

/** Builds the gate and its ports as the hub does, but for time and chance. */
export function openSampleHub(store: Store, clock: { now: number }, feed = createFeed()): SampleHub {
  let drawn = 0;
  const time = { now: () => clock.now, monotonic: () => clock.now, trusted: () => clock.now };
  const chance = {
    bytes: (count: number) => Uint8Array.from({ length: count }, () => (drawn = (drawn * 31 + 7) % 251)),
    below: (bound: number) => ++drawn % bound,
  };
  const onFault = (error: unknown): void => {
    throw error;
  };
  const unread = createUnreadCache({ store, clock: time, patience: PATIENCE, offers: () => deps.offers });
  const log = createLog(store, feed, unread.noticed);
  const deps: Ports = {
    ...ABSENT_PORTS,
    store,
    log,
    clock: time,
    chance,
    feed,
    quotas: createQuotas({ message: PLENTY, write: PLENTY, search: PLENTY, open: 1e9 }, time),
    reads: createReads({ log, clock: time, chance, idempotencyWindowMs: 1e12, maxBytes: 1e9 }),
    presence: createPresenceBoard(time),
    profiles: createProfileRegistry(undefined, () => {}),
    links: { of: () => new Map(), session: () => undefined, size: 0 },
    commander: { command: () => Promise.reject(new Error('nobody is connected')) },
    asks: createAskKeeper({
      store,
      log,
      clock: time,
      chance,
      links: { session: (name) => deps.links.session(name) },
      patience: PATIENCE,
      onGone: () => {},
      onFault,
    }),
    mutes: createMuteKeeper(store, log, time, chance, onFault),
    offers: createOffers(store, time, chance, onFault, unread.forget),
    unread,
    waitingSessions: createWaitingSessions(() => 0),
    arrivals: createArrivals({ monotonic: time.monotonic, silentMs: PATIENCE.offlineAfterMs }),
    waker: {
      wake: () => {
        throw new Error('nobody is woken here');
      },
      look: () => Promise.resolve({ family: 'other', doors: [] }),
      canReach: () => Promise.resolve(undefined),
    },
    invitations: createInvitations(time, chance),
    authority: { of: () => ({ kid: 'sample', devices: [] }), ended: () => false },
    messenger: {
      pushKey: '',
      refusal: () => Promise.resolve(undefined),
      send: () => Promise.resolve({ sent: true }),
    },
    deliveryQueue: { redrive: () => Promise.reject(new Error('nothing is delivered here')) },
    slo: createSloWindow(time),
    idempotencyWindowMs: 1e12,
    presenceTtlMs: 60_000,
    patience: PATIENCE,
  };
  const hub = createHub(deps, () => {}, { checkAnswers: true });
  return {
    deps,
    call: (caller, name, input, signal = new AbortController().signal) =>
      hub.call(caller, name, input, { request_id: 'r', signal }),
  };
}
