import type { Agent, Ask, Device, Quiet, Session } from '@parley/protocol';

import type { KnownTime } from './trusted-time.ts';
import type { Grant } from './devices/authority.ts';
import type { WakeTally } from './wake/budget.ts';
import type { KeptLeave } from './asks/standing-leave.ts';
import type { Wake } from './wake/wake.ts';
import type { KeptArtifact } from './artifacts/kept.ts';
import type { KeptDelivery, Letter } from './queue/kept.ts';
import type { KeptChannel, Notice } from './notify/notice.ts';
import type { LastSeq, Service, UsedAlias, UsedNonce } from './envelope/kept.ts';
import type {
  Branch,
  KeptContent,
  KeptDocument,
  KeptLink,
  KeptRevision,
  KnownName,
} from './knowledge/kept.ts';

/** The run of a thread's entries that was handed to an agent last, and by which way. */
export interface Offer {
  thread_id: string;
  agent_id: string;
  /** The door by which it went: sse, ws, mcp, wait, read. */
  how: string;
  /** The first entry of the run. */
  first: number;
  /** Its last. */
  seq: number;
  at: string;
}

/** A session as it is kept: what callers see, and since when its status is what it is. */
export interface KeptSession extends Session {
  since: string;
}

/** How far one who follows the log of the whole hub has come. */
export interface Follower {
  name: string;
  pos: number;
}

/** A device as it is kept: of the secret that it holds only the hash. */
export interface KeptDevice extends Omit<Device, 'this_one'> {
  workspace_id: string;
  secret_hash: string;
  /** What it ends with; those of before have none and end by themselves. */
  grant?: Grant;
  /** It signed itself out. */
  left?: true;
}

/** A thread with mutes that end by themselves, for the one who ends them. */
export interface TimedMutes {
  workspace_id: string;
  thread_id: string;
  /** When the first of them ends. */
  next: string;
}

/** What is kept beside the log, by kind: small things with one current value each. */
export interface RecordKinds {
  session: KeptSession;
  agent: Agent;
  ask: Ask;
  offer: Offer;
  wake: Wake;
  tally: WakeTally;
  quiet: Quiet;
  mutes: TimedMutes;
  follower: Follower;
  clock: KnownTime;
  document: KeptDocument;
  branch: Branch;
  revision: KeptRevision;
  content: KeptContent;
  name: KnownName;
  link: KeptLink;
  seq: LastSeq;
  nonce: UsedNonce;
  alias: UsedAlias;
  service: Service;
  artifact: KeptArtifact;
  delivery: KeptDelivery;
  letter: Letter;
  device: KeptDevice;
  leave: KeptLeave;
  channel: KeptChannel;
  notice: Notice;
}

export type RecordKind = keyof RecordKinds;

/** One value to be put: its kind is listed by `mark`, a word for its state, and by `owner`, the agent it is of. */
export type PutRecord = {
  [K in RecordKind]: {
    kind: K;
    workspace_id: string;
    key: string;
    mark: string;
    owner: string;
    value: RecordKinds[K];
  };
}[RecordKind];

/** Which value is to go. */
export interface RecordName {
  kind: RecordKind;
  workspace_id: string;
  key: string;
}

/** What the rules of one workspace may look up while they decide; the store answers from inside its transaction. */
export interface RecordReader {
  get<K extends RecordKind>(kind: K, key: string): RecordKinds[K] | undefined;
  list<K extends RecordKind>(query: RecordsAsked<K>): RecordKinds[K][];
}

/** What a rule asks for; without a limit it gets all. */
export type RecordsAsked<K extends RecordKind = RecordKind> = Pick<
  RecordsQuery<K>,
  'kind' | 'prefix' | 'past' | 'descending'
> & { limit?: number };

/** Which values of a kind are wanted, in the order of their keys or against it. */
export interface RecordsQuery<K extends RecordKind = RecordKind> {
  kind: K;
  /** Undefined for the hub's own housekeeping, which looks at all workspaces. */
  workspace_id: string | undefined;
  marks?: readonly string[];
  owner?: string;
  /** Only these keys. */
  keys?: readonly string[];
  /** Only keys that begin so. */
  prefix?: string;
  /** Only keys after this one, or before it where the highest come first. */
  past?: string;
  /** The highest keys first. */
  descending?: boolean;
  limit: number;
}
