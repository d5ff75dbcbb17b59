import type { Cursor } from '@parley/protocol';

import type { ANSWER, Base } from './command.ts';
import type { Entry } from './entry.ts';
import type { LeaseRecord } from './leases/lease-record.ts';
import type {
  PutRecord,
  RecordKind,
  RecordKinds,
  RecordName,
  RecordReader,
  RecordsAsked,
} from './records.ts';
import type { Located } from './threads/access.ts';
import type { ThreadState } from './threads/state.ts';
import type { KnownTime } from './trusted-time.ts';
import type { ThreadCommands } from './threads/commands.ts';
import type { MessageCommands } from './messages/commands.ts';
import type { ParticipationCommands } from './participation/commands.ts';
import type { SessionCommands } from './sessions/commands.ts';
import type { AgentCommands } from './agents/commands.ts';
import type { UsageCommands } from './usage/commands.ts';
import type { AskCommands } from './asks/commands.ts';
import type { PasskeyCommands } from './passkeys/commands.ts';
import type { EvidenceCommands } from './evidence/commands.ts';
import type { WakeCommands } from './wake/commands.ts';
import type { LeaseCommands } from './leases/commands.ts';
import type { DocumentCommands } from './knowledge/commands.ts';
import type { ArtifactCommands } from './artifacts/commands.ts';
import type { EnvelopeCommands } from './envelope/commands.ts';
import type { QueueCommands } from './queue/commands.ts';
import type { DeviceCommands } from './devices/commands.ts';
import type { NotifyCommands } from './notify/commands.ts';

export type { Aside, Idempotency } from './command.ts';
export type * from './threads/commands.ts';
export type * from './messages/commands.ts';
export type * from './participation/commands.ts';
export type * from './sessions/commands.ts';
export type * from './agents/commands.ts';
export type * from './usage/commands.ts';
export type * from './asks/commands.ts';
export type * from './passkeys/commands.ts';
export type * from './evidence/commands.ts';
export type * from './wake/commands.ts';
export type * from './leases/commands.ts';
export type * from './knowledge/commands.ts';
export type * from './artifacts/commands.ts';
export type * from './envelope/commands.ts';
export type * from './queue/commands.ts';
export type * from './devices/commands.ts';
export type * from './notify/commands.ts';

/** The places of one who follows the logs of all workspaces, in those where it has moved. */
export type NoteFollower = Base<
  'note_follower',
  { name: string; places: readonly { workspace_id: string; pos: number }[] },
  { ok: true }
>;
/** What the hub knows of its clock. */
export type NoteClock = Base<'note_clock', KnownTime, { ok: true }>;

/** Everything that changes the hub: plain data, so that it crosses to the store's thread as it is. */
export type Command =
  | ThreadCommands
  | MessageCommands
  | ParticipationCommands
  | SessionCommands
  | AgentCommands
  | UsageCommands
  | AskCommands
  | PasskeyCommands
  | EvidenceCommands
  | WakeCommands
  | LeaseCommands
  | DocumentCommands
  | ArtifactCommands
  | EnvelopeCommands
  | QueueCommands
  | DeviceCommands
  | NotifyCommands
  | NoteFollower
  | NoteClock;

type Results = { [C in Command as C['type']]: NonNullable<C[typeof ANSWER]> };

/** What the rule of a command answers. */
export type ResultOf<T extends Command['type']> = Results[T];

export type ThreadCommand = Extract<Command, { thread_id: string }>;

/** The kinds of records of which a rule can name one. */
export type NeededKind = 'agent' | 'ask' | 'session' | 'device' | 'channel';

/** One value beside the log, of the workspace of the one who asks. */
export interface RecordGet {
  kind: RecordKind;
  key: string;
}

/** What a store loads before it asks the rules. */
export interface Needs {
  thread?: string;
  /** A second thread that the command writes to. */
  other?: string;
  /** The entry at this seq of the thread, for what refers to it. */
  entry_seq?: number;
  /** The caller's cursor in the thread. */
  cursor?: boolean;
  /** A value kept beside the log. */
  record?: { kind: NeededKind; key: string };
  /** Whatever the rule finds that it must know; it may look up more than it names here, at the price of a wait. */
  records?: true;
  /** Of that, what it is known to look up: a store at the end of a wire has it with everything else. */
  gets?: readonly RecordGet[];
  /** Of that, the lists that it goes through. */
  lists?: readonly RecordsAsked[];
  /** Of that, the documents from which it goes up to the root. */
  lines?: readonly string[];
  /** The hub's own lease of this name. */
  lease?: string;
}

/** What a store hands to the rules. */
export interface Loaded {
  located: Located;
  other?: Located;
  entry: Entry | undefined;
  cursor: Cursor | undefined;
  /** The record that the rule named, under its kind. */
  record?: Partial<Pick<RecordKinds, NeededKind>>;
  records?: RecordReader;
  lease?: LeaseRecord;
}

/** A record as a store hands it to the rules: under the kind by which it was read. */
export function loadedRecord(kind: NeededKind, value: unknown): NonNullable<Loaded['record']> {
  return { [kind]: value };
}

/** What a decision adds to one thread. */
export interface ThreadChange {
  entries: Entry[];
  thread: ThreadState;
}

/** What the rules want written, all or nothing, and the answer to give once it is durable. */
export interface Decision<R extends Record<string, unknown> = Record<string, unknown>> {
  changes: ThreadChange[];
  cursor?: Cursor;
  records?: PutRecord[];
  drops?: RecordName[];
  result: R;
}

/** One command's rule: what it must know, and what it then decides. */
export interface Rule<C extends Command> {
  needs(command: C): Needs;
  decide(loaded: Loaded, command: C): Decision<ResultOf<C['type']>>;
}
