import { type Agent, type Ask, type Device, type Quiet, entriesOf, fieldsOf } from '@parley/protocol';

import type { KnownTime } from './trusted-time.ts';
import type { AgentStateRecord } from './agents/stretch.ts';
import type { Grant } from './devices/grant.ts';
import type { StoredSession } from './sessions/stored-session.ts';
import type { LeaseRecord } from './leases/lease-record.ts';
import type { WakeTally } from './wake/budget.ts';
import type { PasskeyChallenge, PasskeyRecord } from './passkeys/passkey-record.ts';
import type { ApprovalRuleRecord } from './asks/approval-rule.ts';
import type { UsageRecord } from './usage/usage-sums.ts';
import type { Wake } from './wake/wake.ts';
import type { ArtifactRecord } from './artifacts/artifact-record.ts';
import type { DeliveryRecord, DeliveryBody } from './queue/delivery-record.ts';
import type { ChannelRecord, Notice } from './notify/notice.ts';
import type { LastSeq, Service, UsedAlias, UsedNonce } from './envelope/envelope-records.ts';
import type {
  Branch,
  ContentRecord,
  DocumentRecord,
  LinkRecord,
  RevisionRecord,
  KnownName,
} from './knowledge/document-records.ts';

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

/** Whose instance goes by a name. */
export interface Instance {
  workspace_id: string;
  instance_id: string;
  agent_id: string;
}

/** How far one who follows the logs of all workspaces has come in one of them. */
export interface Follower {
  name: string;
  workspace_id: string;
  pos: number;
}

/** Under which the place of a follower in one workspace is kept. */
export function placeKey(name: string, workspaceId: string): string {
  return `${name} ${workspaceId}`;
}

/** A device as it is kept: of the secret that it holds only the hash. */
export interface DeviceRecord extends Omit<Device, 'this_one'> {
  workspace_id: string;
  secret_hash: string;
  /** What it ends with; those of before have none and end by themselves. */
  grant?: Grant;
  /** It signed itself out. */
  left?: true;
}

/** Whose name it is, where an account of an issuer bears it: nobody else from there gets it. */
export interface PersonRecord {
  agent_id: string;
  workspace_id: string;
  issuer: string;
  subject: string;
  /** Everything the issuer said of this account until then counts no more. */
  ended_at?: string;
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
  session: StoredSession;
  agent: Agent;
  agent_state: AgentStateRecord;
  instance: Instance;
  ask: Ask;
  offer: Offer;
  wake: Wake;
  usage: UsageRecord;
  tally: WakeTally;
  quiet: Quiet;
  mutes: TimedMutes;
  follower: Follower;
  lease: LeaseRecord;
  clock: KnownTime;
  document: DocumentRecord;
  branch: Branch;
  revision: RevisionRecord;
  content: ContentRecord;
  name: KnownName;
  link: LinkRecord;
  seq: LastSeq;
  nonce: UsedNonce;
  alias: UsedAlias;
  service: Service;
  artifact: ArtifactRecord;
  delivery: DeliveryRecord;
  delivery_body: DeliveryBody;
  device: DeviceRecord;
  person: PersonRecord;
  approval_rule: ApprovalRuleRecord;
  passkey: PasskeyRecord;
  passkey_challenge: PasskeyChallenge;
  channel: ChannelRecord;
  notice: Notice;
}

export type RecordKind = keyof RecordKinds;

/** Where in values of these kinds the moment stands from which the hub has something to do about them. */
export const DUE_FIELDS = {
  agent_state: 'until',
  delivery: 'finished_at',
  document: 'delete_at',
  mutes: 'next',
  nonce: 'until',
  notice: 'created_at',
  usage: 'day',
} as const satisfies Partial<{ [K in RecordKind]: keyof RecordKinds[K] }>;

/** The field in which a kind has its moment; undefined for a kind without one. */
export function dueField(kind: RecordKind): string | undefined {
  return entriesOf(DUE_FIELDS).find(([name]) => name === kind)?.[1];
}

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
  'kind' | 'prefix' | 'past' | 'owner' | 'descending' | 'standing' | 'offset'
> & {
  limit?: number;
  /** Of the places of documents: the rule goes on to those documents and to the places below them. */
  deep?: true;
};

/** Which values of a kind are wanted, in the order of their keys or against it. */
export interface RecordsQuery<K extends RecordKind = RecordKind> {
  kind: K;
  /** Undefined for the hub's own housekeeping, which looks at all workspaces. */
  workspace_id: string | undefined;
  marks?: readonly string[];
  owner?: string;
  /** Of each of these owners as many as the limit says. */
  owners?: readonly string[];
  /** Only these keys. */
  keys?: readonly string[];
  /** Of documents: this one and those above it, the nearest first; nothing else is looked at but the limit. */
  line?: string;
  /** Only keys that begin so. */
  prefix?: string;
  /** Only keys after this one, or before it where the highest come first. */
  past?: string;
  /** Only this key and those above it. */
  from?: string;
  /** Only what comes after this one, where all workspaces are looked at. */
  after?: { workspace_id: string; key: string };
  /** Only those whose moment has come by this one, of a kind that has one; with a single mark, the earliest first. */
  due_by?: string | number;
  /** The highest keys first. */
  descending?: boolean;
  /** Of sessions of one owner, or of several: those that were heard last first. */
  heard_last?: boolean;
  /** Only what is not gone by this moment, by its `delete_at`. */
  standing?: string;
  /** So many of those that are wanted are passed over; they are counted, not read. */
  offset?: number;
  limit: number;
}

/** Goes from a document up to the root by point look-ups, for a store that is at hand: itself first, as many as the limit says. */
export function* walkUp<T extends object>(
  from: string,
  limit: number,
  look: (key: string) => readonly T[],
): Generator<T> {
  let next: unknown = from;
  for (let count = 0; count < limit && typeof next === 'string'; count++) {
    const [found] = look(next);
    if (found === undefined) return;
    yield found;
    next = fieldsOf(found)['parent_id'];
  }
}
