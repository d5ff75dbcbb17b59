import type { Caller, OperationName, OutputOf, ParsedInputOf, Trace } from '@parley/protocol';
import { ENTRY_SALT_BOUND } from '@parley/protocol';

import type { Chance, Clock } from './clock.ts';
import type { Command, Order } from './commands.ts';
import type { Artifacts } from './artifacts/ports.ts';
import type { Log } from './log.ts';
import type { Commander, Links } from './agents/ports.ts';
import type { Patience } from './agents/state.ts';
import type { Authority } from './devices/authority.ts';
import type { Invitations } from './devices/invitations.ts';
import type { AskKeeper } from './asks/keeper.ts';
import type { LogFollower } from './log-follower.ts';
import type { Answerer, Library } from './knowledge/library.ts';
import type { SloWindow } from './envelope/slo-window.ts';
import type { MessageSearch } from './messages/message-search.ts';
import type { Messenger } from './notify/notice.ts';
import type { Offers } from './evidence/offers.ts';
import type { Feed } from './feed.ts';
import type { MuteKeeper } from './participation/mute-keeper.ts';
import type { PresenceBoard } from './participation/presence.ts';
import type { ProfileRegistry } from './participation/profile-registry.ts';
import type { PostOffice } from './queue/post-office.ts';
import type { Quotas } from './quota.ts';
import type { Store } from './store.ts';
import type { Prose } from './threads/summary.ts';
import type { ClockState } from './trusted-time.ts';
import type { Waker } from './wake/ports.ts';
import type { WakeDesk } from './wake/wake-desk.ts';

/** The ports that operations work with. */
export interface Deps {
  store: Store;
  log: Log;
  clock: Clock;
  chance: Chance;
  feed: Feed;
  quotas: Quotas;
  presence: PresenceBoard;
  profiles: ProfileRegistry;
  links: Links;
  commander: Commander;
  asks: AskKeeper;
  mutes: MuteKeeper;
  offers: Offers;
  waker: Pick<Waker, 'wake'>;
  wakeDesk: WakeDesk;
  invitations: Invitations;
  authority: Authority;
  /** Where people find the hub with a browser. */
  address: () => string;
  /** Carries notifications out. */
  messenger: Messenger;
  /** What the hub tells of itself. */
  about: () => About;
  /** Writes a summary's prose when a model is configured. */
  prose: Prose | undefined;
  library: Library;
  indexFollower: Pick<LogFollower, 'caughtUp' | 'again'>;
  /** Finds messages by their meaning; undefined where that is switched off. */
  messageSearch: MessageSearch | undefined;
  /** Writes answers from passages when a model is configured. */
  answerer: Answerer | undefined;
  artifacts: Artifacts;
  postOffice: Pick<PostOffice, 'redrive'>;
  /** Whether callers may ask for no search at all, to try themselves. */
  noopAllowed: boolean;
  /** How envelopes fared within the last week. */
  slo: Pick<SloWindow, 'last'>;
  idempotencyWindowMs: number;
  presenceTtlMs: number;
  patience: Patience;
  /** The documents under which agents may make others; root is all of them. */
  agentsCreateUnder: readonly string[];
}

/** What only the one who built the hub knows of it. */
export interface About {
  version: string;
  started_at: string;
  /** Where other devices find it. */
  address: string;
  /** How long it was at work and how long it waited, since its start. */
  event_loop: { active_ms: number; idle_ms: number };
  clock: ClockState;
  keys: { kid: string; own: boolean; created_at: string; retired_at?: string; workspace?: string }[];
}

/** What one call brings beside its input. */
export interface CallContext {
  request_id: string;
  signal: AbortSignal;
  /** The trace that the caller is in, if it says so. */
  trace?: Trace | undefined;
  /** The id that a client gave the event it posts: one event of this sender in the whole workspace. */
  event_id?: string;
  /** The sender's own number for this call, where its wire has one. */
  order?: Order;
  /** Nothing comes of the call after this moment, where its wire says so. */
  deadline?: number;
  /** The bytes that come with the call, where they are too many to stand in its input. */
  body?: AsyncIterable<Uint8Array>;
  /** The hub's own doing in the name of the caller: it is counted against nobody. */
  unmetered?: true;
  /** Tells a patient client that a long call is still alive. */
  progress?: (message: string) => void;
}

/** One thing the hub can do. */
export interface Operation<N extends OperationName> {
  /** Observers may only look. */
  authority: 'look' | 'act';
  run(deps: Deps, caller: Caller, input: ParsedInputOf<N>, context: CallContext): Promise<OutputOf<N>>;
}

/** Keeps an operation's types tied to its contract by name. */
export function operation<N extends OperationName>(_name: N, definition: Operation<N>): Operation<N> {
  return definition;
}

/** The common head of every command: who, when, a pinch of chance, and the caller's key or the id of the event. */
export function stamp(
  deps: Deps,
  caller: Caller,
  scope: string,
  key: string | undefined,
  event_id?: string,
  trace?: Trace,
): Stamp {
  const now = deps.clock.now();
  const head: Stamp = { caller: nameOf(caller), now, salt: deps.chance.below(ENTRY_SALT_BOUND) };
  if (trace !== undefined) head.trace = trace;
  const fresh_after = deps.clock.trusted() - deps.idempotencyWindowMs;
  const { workspace_id } = caller;
  if (event_id !== undefined)
    head.idempotency = { scope: `${workspace_id} event`, key: event_id, fresh_after, about: scope };
  else if (key !== undefined) head.idempotency = { scope: `${workspace_id} ${scope}`, key, fresh_after };
  return head;
}

type Stamp = Pick<Command, 'caller' | 'now' | 'salt' | 'idempotency' | 'trace'>;

const namesByCaller = new WeakMap<Caller, Caller>();

/** Who calls, without the rest of the claims: it goes with every command. A caller is one object for all its calls. */
function nameOf(caller: Caller): Caller {
  let name = namesByCaller.get(caller);
  if (name === undefined) {
    const { agent_id, workspace_id, role, session_id } = caller;
    namesByCaller.set(caller, (name = { agent_id, workspace_id, role, session_id }));
  }
  return name;
}
