import type { Commander, Links } from './agents/ports.ts';
import type { Patience } from './agents/state.ts';
import type { UnreadCache } from './agents/unread-cache.ts';
import type { Artifacts } from './artifacts/ports.ts';
import type { AskKeeper } from './asks/keeper.ts';
import type { Chance, Clock } from './clock.ts';
import type { Authority } from './devices/authority.ts';
import type { Invitations } from './devices/invitations.ts';
import type { Reads } from './envelope/reads.ts';
import type { SloWindow } from './envelope/slo-window.ts';
import type { Offers } from './evidence/offers.ts';
import type { Feed } from './feed.ts';
import type { IndexFollower } from './knowledge/index-follower.ts';
import type { Answerer, Library } from './knowledge/library.ts';
import type { Log } from './log.ts';
import type { MessageSearch } from './messages/message-search.ts';
import type { BusHealth } from './nodes/bus.ts';
import type { Messenger } from './notify/notice.ts';
import type { MuteKeeper } from './participation/mute-keeper.ts';
import type { PresenceBoard } from './participation/presence.ts';
import type { ProfileRegistry } from './participation/profile-registry.ts';
import type { DeliveryQueue } from './queue/delivery-queue.ts';
import type { Passkeys } from './passkeys/ports.ts';
import type { Quotas } from './quota.ts';
import type { Store } from './store.ts';
import type { Prose } from './threads/summary.ts';
import type { ClockState } from './trusted-time.ts';
import type { Price } from './usage/usage-sums.ts';
import type { Arrivals } from './wake/arrivals.ts';
import type { Waker } from './wake/ports.ts';
import type { WaitingSessions } from './wake/waiting-sessions.ts';

/** The record: what is read and written for good, and what every command is stamped with. */
export interface RecordPorts {
  store: Store;
  log: Log;
  clock: Clock;
  chance: Chance;
  idempotencyWindowMs: number;
}

/** What is told of messages beside the record: who was given them, what is found in them, in how many words. */
export interface MessagePorts {
  offers: Offers;
  /** What each agent has not read. */
  unread: Pick<UnreadCache, 'of'>;
  /** Finds messages by their meaning; undefined where that is switched off. */
  messageSearch: MessageSearch | undefined;
  /** Writes a summary's prose when a model is configured. */
  prose: Prose | undefined;
}

/** Who takes part in a conversation, and how. */
export interface ConversationPorts {
  presence: PresenceBoard;
  profiles: ProfileRegistry;
  mutes: MuteKeeper;
  presenceTtlMs: number;
}

/** Which agents are there, and the way to those that are connected. */
export interface AgentPorts {
  links: Links;
  commander: Commander;
  arrivals: Arrivals;
  patience: Patience;
}

/** What agents need of people. */
export interface AskPorts {
  asks: AskKeeper;
  /** Commands that are high risk here, whatever the hub sees in them: a program, and words that follow it. */
  highRisk: readonly string[];
}

/** What people sign with. */
export interface PasskeyPorts {
  passkeys: Passkeys;
}

/** How agents are woken. */
export interface WakePorts {
  waker: Pick<Waker, 'wake' | 'look' | 'canReach'>;
  waitingSessions: WaitingSessions;
}

/** Documents, and what is found in them. */
export interface KnowledgePorts {
  library: Library;
  indexFollower: Pick<IndexFollower, 'caughtUp' | 'again' | 'look'>;
  /** Writes answers from passages when a model is configured. */
  answerer: Answerer | undefined;
  /** Whether callers may ask for no search at all, to try themselves. */
  noopAllowed: boolean;
  /** The documents under which agents may make others; root is all of them. */
  agentsCreateUnder: readonly string[];
}

/** The bytes of artifacts. */
export interface ArtifactPorts {
  artifacts: Artifacts;
}

/** What is carried out later. */
export interface QueuePorts {
  deliveryQueue: Pick<DeliveryQueue, 'redrive'>;
}

/** The devices of people, and by what right callers are here. */
export interface DevicePorts {
  invitations: Invitations;
  authority: Authority;
}

/** The way out to people. */
export interface NotifyPorts {
  /** Carries notifications out. */
  messenger: Messenger;
  feed: Feed;
}

/** The hub about itself. */
export interface AboutPorts {
  /** Where people find the hub with a browser. */
  address: () => string;
  /** What the hub tells of itself. */
  about: () => About;
  /** How envelopes fared within the last week. */
  slo: Pick<SloWindow, 'last' | 'hours'>;
}

/** What turns of agents cost. */
export interface UsagePorts {
  /** The prices that whoever runs the hub has set, for turns of which no cost is reported. */
  prices: readonly Price[];
}

/** What callers may spend. */
export interface QuotaPorts {
  quotas: Quotas;
}

/** What reads have answered under keys of their senders. */
export interface ReadPorts {
  reads: Reads;
}

/** All ports that operations work with; each names the groups that it needs. */
export interface Ports
  extends
    RecordPorts,
    MessagePorts,
    ConversationPorts,
    AgentPorts,
    AskPorts,
    PasskeyPorts,
    WakePorts,
    KnowledgePorts,
    ArtifactPorts,
    QueuePorts,
    DevicePorts,
    NotifyPorts,
    AboutPorts,
    QuotaPorts,
    UsagePorts,
    ReadPorts {}

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
  /** How this node hears the others, and how many they are; a hub that is alone has none. */
  nodes?: BusHealth & { others: number };
}
