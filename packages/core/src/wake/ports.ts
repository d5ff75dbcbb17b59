import type { Caller } from '@parley/protocol';

import type { Clock, Chance } from '../clock.ts';
import type { Links } from '../agents/ports.ts';
import type { Patience } from '../agents/state.ts';
import type { Offers } from '../evidence/offers.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store.ts';
import type { Prose } from '../threads/summary.ts';
import type { ThreadState } from '../threads/state.ts';
import type { Door, DoorName, Family } from './door.ts';
import type { WakeSettings } from './policy.ts';
import type { Wake } from './wake.ts';

/** Who is to be woken, for which thread, and in whose name. */
export interface WakeRequest {
  thread: ThreadState;
  target: string;
  by: string;
  human: boolean;
  reason: string;
  /** The seq of the message that calls the target: where it was read by itself, or another wake has brought it, that leaves no trace. */
  call?: number;
  note?: string | undefined;
  /** Who insists, and why; without it nobody does. */
  audit?: Record<string, unknown> | undefined;
  idempotency_key?: string | undefined;
  /** How long the outcome is waited for; after that it is told how the wake stands. */
  timeoutMs?: number;
}

/** A wake that was asked for. */
export interface AskedWake {
  /** It is on record and will go on after a restart, or came to nothing; throws where the hub stops before either. */
  recorded: Promise<void>;
  /** What became of it first: delivered, queued, deferred or skipped; throws where no door was left. */
  outcome: Promise<Wake>;
}

/** Wakes agents by the policy and the ladder of doors, one delivery at a time for each thread and target. */
export interface Waker {
  /** Goes on with what was under way when the hub, or whichever node woke before, stopped. */
  start(): Promise<void>;
  /** Leaves what is under way to whoever wakes from now on, as it stands on record; until it starts again. */
  stop(): Promise<void>;
  wake(caller: Caller, request: WakeRequest): AskedWake;
  /** Undefined where no door is set up for this agent; else whether it is at work where no door can see it. */
  canReach(workspaceId: string, agentId: string): Promise<{ atWork: boolean } | undefined>;
  /** Every door of an agent as it stands now; nothing goes through them. */
  look(workspaceId: string, agentId: string): Promise<Reach>;
  close(): Promise<void>;
}

/** What would become of a wake now. */
export interface Reach {
  family: Family;
  doors: { door: DoorName; open: 'now' | 'later' | 'no'; reason?: string }[];
}

/** What the operator has said of one agent. */
export interface WakeProfile {
  workspace_id: string;
  agent_id: string;
  family: Family;
  quiet: boolean;
}

export interface WakerDeps {
  store: Store;
  log: Log;
  clock: Clock;
  chance: Chance;
  links: Links;
  offers: Offers;
  prose: Prose | undefined;
  idempotencyWindowMs: number;
  patience: Patience;
  doors: ReadonlyMap<DoorName, Door>;
  settings: WakeSettings;
  wakeProfiles: readonly WakeProfile[];
  onFault: (error: unknown) => void;
}
