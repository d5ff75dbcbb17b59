import type { Caller, OperationName } from '@parley/protocol';

import { createAskKeeper } from './asks/keeper.ts';
import { createInvitations } from './devices/invitations.ts';
import { createSloWindow } from './envelope/slo-window.ts';
import { createOffers } from './evidence/offers.ts';
import { createFeed } from './feed.ts';
import { createHub } from './hub.ts';
import { createLog } from './log.ts';
import type { Deps } from './operation.ts';
import { createMuteKeeper } from './participation/mute-keeper.ts';
import { createPresenceBoard } from './participation/presence.ts';
import { createProfileRegistry } from './participation/profile-registry.ts';
import { createQuotas } from './quota.ts';
import type { Store } from './store.ts';
import { createWakeDesk } from './wake/wake-desk.ts';

/** A hub over a store, with a clock that the test moves. */
export interface Desk {
  deps: Deps;
  call: (caller: Caller, name: OperationName, input: object, signal?: AbortSignal) => Promise<unknown>;
}

const PLENTY = { per_minute: 1e9, burst: 1e9 };

/** Builds the gate and its ports as the hub does, but for time and chance. */
export function openDesk(store: Store, clock: { now: number }, feed = createFeed()): Desk {
  let drawn = 0;
  const time = { now: () => clock.now, monotonic: () => clock.now, trusted: () => clock.now };
  const chance = {
    bytes: (count: number) => Uint8Array.from({ length: count }, () => (drawn = (drawn * 31 + 7) % 251)),
    below: (bound: number) => ++drawn % bound,
  };
  const onFault = (error: unknown): void => {
    throw error;
  };
  const deps: Deps = {
    store,
    log: createLog(store, feed),
    clock: time,
    chance,
    feed,
    quotas: createQuotas({ message: PLENTY, write: PLENTY, search: PLENTY, open: 1e9 }, time),
    presence: createPresenceBoard(time),
    profiles: createProfileRegistry(undefined, () => {}),
    links: { of: () => new Map(), size: 0 },
    commander: { command: () => Promise.reject(new Error('nobody is connected')) },
    asks: createAskKeeper(store, () => deps.log, time, chance, onFault),
    mutes: createMuteKeeper(store, () => deps.log, time, chance, onFault),
    offers: createOffers(store, time, chance, onFault),
    wakeDesk: createWakeDesk(() => 0),
    waker: {
      wake: () => {
        throw new Error('nobody is woken here');
      },
    },
    invitations: createInvitations(time, chance),
    authority: { of: () => ({ kid: 'sample', devices: [] }), ended: () => false },
    address: () => 'http://127.0.0.1',
    messenger: { pushKey: '', send: () => Promise.resolve({ sent: true }) },
    about: () => ({
      version: '0.0.0',
      address: 'http://127.0.0.1',
      started_at: new Date(0).toISOString(),
      keys: [],
      event_loop: { active_ms: 0, idle_ms: 0 },
      clock: { ahead_ms: 0, jumps: [] },
    }),
    prose: undefined,
    library: {
      backend: 'embedded',
      find: () => Promise.resolve({ passages: [], keyword_hits: 0, vector_hits: 0, lacks: [] }),
      sentences: () => Promise.resolve([]),
    },
    indexFollower: { caughtUp: () => Promise.resolve(true), again: () => {} },
    messageSearch: undefined,
    answerer: undefined,
    artifacts: {
      types: ['text/plain'],
      keep: () => Promise.reject(new Error('nothing is kept here')),
      read: () => Promise.reject(new Error('nothing is kept here')),
      sign: () => '',
      named: () => ({ workspace_id: '', sha256: '' }),
    },
    postOffice: { redrive: () => Promise.reject(new Error('nothing is delivered here')) },
    noopAllowed: false,
    slo: createSloWindow(time),
    idempotencyWindowMs: 1e12,
    presenceTtlMs: 60_000,
    agentsCreateUnder: ['root'],
    patience: { stuckAfterMs: 60_000, offlineAfterMs: 120_000, unreadStuckMs: 600_000 },
  };
  const hub = createHub(deps, () => {});
  return {
    deps,
    call: (caller, name, input, signal = new AbortController().signal) =>
      hub.call(caller, name, input, { request_id: 'r', signal }),
  };
}
