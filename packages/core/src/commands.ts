import type {
  AgentEvent,
  AgentRegistration,
  AgentStatus,
  Artifact,
  Ask,
  AskAnswer,
  AskContent,
  Caller,
  ChannelChange,
  Control,
  Cursor,
  DocumentContent,
  DocumentMetadata,
  EnvelopeAction,
  ManagementMode,
  OutputOf,
  PostedKind,
  Quiet,
  Session,
  ThreadStatus,
  ThreadType,
  Trace,
  TurnUsage,
} from '@parley/protocol';

import type { AgentStateRecord } from './agents/stretch.ts';
import type { ApprovalRuleRecord } from './asks/approval-rule.ts';
import type { Grant } from './devices/grant.ts';
import type { Entry } from './entry.ts';
import type { Fence, LeaseRecord } from './leases/lease-record.ts';
import type { DeliveryOutcome } from './queue/outcome.ts';
import type {
  DeviceRecord,
  Offer,
  PersonRecord,
  PutRecord,
  RecordKind,
  RecordKinds,
  RecordName,
  RecordReader,
  RecordsAsked,
} from './records.ts';
import type { PasskeyChallenge, PasskeyProof, PasskeyRecord } from './passkeys/passkey-record.ts';
import type { Passkeys } from './passkeys/ports.ts';
import type { ChannelRecord, Notice } from './notify/notice.ts';
import type { AcceptedDelivery, Ignored, Nothing, Placed } from './results.ts';
import type { Located } from './threads/access.ts';
import type { ThreadState } from './threads/state.ts';
import type { KnownTime } from './trusted-time.ts';
import type { WakeBudget } from './wake/budget.ts';
import type { Wake } from './wake/wake.ts';

/** A caller's promise that the same key means the same thing; kept with the effect in one transaction. */
export interface Idempotency {
  scope: string;
  key: string;
  /** Records made before this moment have left the window and no longer bind. */
  fresh_after: number;
  /** What the key also binds where its scope is wider than one place. */
  about?: string;
  /** Only asks whether the key binds already: what comes of the command is not kept under it. */
  peek?: true;
}

/** Where the compiler reads what the rule of a command answers; nothing ever stands there. */
declare const ANSWER: unique symbol;

interface Base<T extends string, I, R = Nothing> {
  type: T;
  readonly [ANSWER]?: R;
  caller: Caller;
  /** Wall-clock milliseconds: at the gate, and once the store decides the time of that, if it is later. */
  now: number;
  /** Nothing comes of it after this moment, however long it waited for its turn. */
  deadline?: number;
  /** Randomness for ids, drawn outside the rules. */
  salt: number;
  idempotency?: Idempotency;
  /** By what right the owner of a job writes; others write without it. */
  fence?: Fence;
  /** The trace in which it was asked for; no part of what a key binds, since a repeat is a new span. */
  trace?: Trace;
  input: I;
}

interface InThread<T extends string, I, R = Nothing> extends Base<T, I, R> {
  thread_id: string;
}

interface Content {
  body: string;
  metadata?: Record<string, unknown> | undefined;
  idempotency_key?: string | undefined;
}

/** What may go with a control or a presence as with a message. */
export interface Aside {
  to?: string | undefined;
  in_reply_to?: string | undefined;
  tags?: string[] | undefined;
}

export type CreateThread = InThread<
  'create_thread',
  { title: string; type: ThreadType; participants: string[] },
  OutputOf<'create_thread'>
>;
export type PostMessage = InThread<
  'post_message',
  Content & {
    schema_version: number;
    kind: PostedKind;
    in_reply_to?: string | undefined;
    to?: string | undefined;
  },
  OutputOf<'post_message'>
>;
export type UpdateStatus = InThread<
  'update_status',
  { status: ThreadStatus; reason: string; metadata?: Record<string, unknown> | undefined },
  OutputOf<'update_thread_status'>
>;
export type RenameThread = InThread<'rename_thread', { title: string }, OutputOf<'rename_thread'>>;
export type AckRead = InThread<'ack_read', { last_read_seq: number }, OutputOf<'ack_read'>>;
export type ControlThread = InThread<
  'control_thread',
  Aside & { control?: Control | undefined },
  OutputOf<'control_thread'>
>;
/** Their time is up: the hub lets those speak again who were muted for a while. */
export type EndMutes = InThread<'end_mutes', Record<string, never>>;
export type AssignTask = InThread<
  'assign_task',
  Content & { to?: string | undefined; role?: string | undefined },
  OutputOf<'assign_task'>
>;
export type ReportResult = InThread<
  'report_result',
  Omit<Content, 'body'> & {
    task: string;
    to?: string | undefined;
    body?: string | undefined;
    output?: Record<string, unknown> | undefined;
  },
  OutputOf<'report_result'>
>;
/** A presence that was asked to stand in the log. */
export type NotePresence = InThread<'note_presence', Aside & { transition: string; state: string }, Placed>;
/** `thread_id` is the main thread, `side_id` the new one. */
export type OpenSide = InThread<
  'open_side',
  { title: string; purpose: string; participants: string[] },
  OutputOf<'open_side_channel'>
> & {
  side_id: string;
};
/** `thread_id` is the side channel, `main_id` the thread it hangs on. */
export type CloseSide = InThread<'close_side', { summary: string }, OutputOf<'close_side_channel'>> & {
  main_id: string;
};

export type Heartbeat = Base<
  'heartbeat',
  {
    runtime: string;
    status: Session['status'];
    resumable: boolean;
    management_mode: ManagementMode;
    native_session_id?: string | undefined;
  },
  OutputOf<'heartbeat_session'>
>;
/** Which instance of an agent speaks, where it says so. */
interface OfInstance {
  instance_id?: string | undefined;
}

/** `thread_id` of all that concerns an agent and no other thread is the agent's journal. */
export type RegisterAgent = InThread<
  'register_agent',
  AgentRegistration & OfInstance,
  OutputOf<'register_agent'>
>;
export type UpdateAgentStatus = Base<
  'update_agent_status',
  AgentStatus & OfInstance,
  OutputOf<'update_agent_status'>
>;
export type ReportEvent = InThread<'report_event', AgentEvent & OfInstance, OutputOf<'report_event'>>;
export type RecordCommand = InThread<
  'record_command',
  {
    of_agent: string;
    command_id: string;
    command: string;
    parameters?: Record<string, unknown>;
    opaque?: boolean;
    correlation_id?: string;
  },
  Placed
>;
export type RecordResponse = InThread<
  'record_response',
  { command_id: string; success: boolean; error_code?: string; execution_ms: number },
  Placed
>;

/** An agent that is gone is taken off the list; `thread_id` is its journal. */
export type ForgetAgent = InThread<
  'forget_agent',
  {
    of_agent: string;
    reason?: string;
    /** Silence after which one reads offline. */
    offline_after_ms: number;
  },
  OutputOf<'forget_agent'>
>;
/** Somebody has seen what an agent failed with; `thread_id` is its journal. */
export type DismissError = InThread<
  'dismiss_error',
  { of_agent: string; failed_at: string },
  OutputOf<'dismiss_error'>
>;
/** The hub's own notes of what agents were at: what ends, what begins, and what is kept no longer. */
export type NoteAgentStates = Base<
  'note_agent_states',
  { states: readonly AgentStateRecord[]; drops: readonly string[] }
>;
/** What a turn of the caller used, in a thread where it says so. */
export type ReportUsage = Base<'report_usage', TurnUsage, OutputOf<'report_usage'>> & {
  thread_id?: string;
  /** Where it is not the day of the report. */
  day?: string;
};
export type ForgetUsage = Base<'forget_usage', { keys: readonly string[] }>;
/** The hub's own housekeeping: a program that was run once and not seen since then; another is left alone. */
export type ForgetOnce = InThread<
  'forget_once',
  { of_agent: string; offline_after_ms: number; before: string }
>;

export type RaiseAsk = InThread<'raise_ask', AskContent & { expires_in_ms: number }, { ask: Ask }> & {
  ask_id: string;
  /** The commands that whoever runs the hub calls high risk. */
  listed?: readonly string[];
  demanded?: Passkeys['demanded'];
};
export type AnswerAsk = InThread<'answer_ask', AskAnswer, { ask: Ask }> & {
  ask_id: string;
  demanded?: Passkeys['demanded'];
  /** What a passkey signed, held against its signature already. */
  proof?: PasskeyProof;
};
/** The agent has the verdict in hand. */
export type TakeAsk = InThread<'take_ask', Record<string, never>, { ask: Ask }> & { ask_id: string };
/** The agent needs no answer any more. */
export type WithdrawAsk = InThread<'withdraw_ask', { reason: string }, { ask: Ask }> & { ask_id: string };
/** Its time is up: the hub itself denies it. */
export type ExpireAsk = InThread<'expire_ask', Record<string, never>, { ask: Ask }> & { ask_id: string };
/** The session that raised it is gone: the hub itself withdraws it. */
export type DropAsk = InThread<'drop_ask', { gone_since: string }, { ask: Ask }> & { ask_id: string };

/** A person allows something in advance. */
/** `thread_id` of all that is allowed in advance is the journal of the agent. */
export type AddApprovalRule = InThread<'add_approval_rule', object, { approval_rule: ApprovalRuleRecord }> & {
  approval_rule: ApprovalRuleRecord;
};
export type RevokeApprovalRule = InThread<
  'revoke_approval_rule',
  { approval_rule_id: string },
  { approval_rule: ApprovalRuleRecord }
>;
/** The hub answers an ask by what a person has allowed. */
export type ApplyApprovalRule = InThread<
  'apply_approval_rule',
  { approval_rule_id: string },
  { ask: Ask }
> & {
  ask_id: string;
};

/** A challenge that a passkey is to sign. */
export type IssueChallenge = Base<'issue_challenge', Record<string, never>, { until: number }> & {
  challenge: PasskeyChallenge;
};
/** Whoever owns the data folder lets a person add a passkey; `thread_id` of all about passkeys is the person's journal. */
export type IssuePasskeyCode = InThread<'issue_passkey_code', Record<string, never>, { until: number }> & {
  challenge: PasskeyChallenge;
};
/** The input names the challenge that was signed and the code that lets it in. */
export type AddPasskey = InThread<
  'add_passkey',
  { challenge: string; code: string },
  { passkey: PasskeyRecord }
> & { passkey: PasskeyRecord };
export type RemovePasskey = InThread<'remove_passkey', { passkey_id: string }, { passkey: PasskeyRecord }>;

export type NoteOffers = Base<'note_offers', { offers: Offer[] }, { ok: true }>;

/** What is told of a wake in the journal of its target. */
export interface WakeStep {
  text: string;
  facts: Record<string, unknown>;
}

/** `thread_id` is the journal of the target; the input is what was asked for, the same for every step. */
export type NoteWake = InThread<
  'note_wake',
  { thread_id: string; target_agent_id: string; reason: string },
  Pick<Wake, 'trigger_id' | 'state'>
> & {
  wake: Wake;
  step?: WakeStep;
  /** Only within this many an hour; a wake beyond it is skipped. */
  budget?: WakeBudget;
};
/** Who is not to be woken, or again may be; without a name it is everybody. */
/** `thread_id` is the journal of the agent; where it is for everybody, of the one who says so. */
export type SetQuiet = InThread<
  'set_quiet',
  {
    quiet: boolean;
    of_agent?: string | undefined;
    for_ms?: number | undefined;
    hours?: Quiet['hours'];
    reason?: string | undefined;
  },
  OutputOf<'set_quiet'>
>;
/** The places of one who follows the logs of all workspaces, in those where it has moved. */
export type NoteFollower = Base<
  'note_follower',
  { name: string; places: readonly { workspace_id: string; pos: number }[] },
  { ok: true }
>;

/** A process asks for a lease, or renews what it has. */
export type TakeLease = Base<
  'take_lease',
  { name: string; owner: string; ttl_ms?: number },
  {
    epoch: number;
    /** When whoever had it before took it last or gave it back. */
    last_held?: string;
  }
>;
export type ReleaseLease = Base<'release_lease', { name: string; owner: string }>;

/** What the hub knows of its clock. */
export type NoteClock = Base<'note_clock', KnownTime, { ok: true }>;

/** A sender's own number for what it sends in one context; a lower one than the last is not carried out. */
export interface Order {
  context_id: string;
  seq: number;
}

/** `thread_id` of all that concerns documents is the log of the workspace's tree. */
type InTree<T extends string, I, R> = InThread<T, I, R | Ignored> & { order?: Order };
export type CreateDocument = InTree<
  'create_document',
  {
    document_id: string;
    parent_id: string;
    content: DocumentContent;
    metadata: DocumentMetadata;
    is_human_readable: boolean;
    created_at?: string;
  },
  OutputOf<'create_document'>
> & {
  /** The documents under which agents may make others. */
  agents_create_under: readonly string[];
};
export type UpdateDocument = InTree<
  'update_document',
  {
    document_id: string;
    patch: Record<string, unknown>;
    update_mask: readonly string[];
    last_known_revision?: number;
  },
  OutputOf<'update_document'>
>;
export type DeleteDocument = InTree<
  'delete_document',
  { document_id: string; reason?: string; delete_at?: string },
  OutputOf<'delete_document'>
>;
export type RestoreDocument = InTree<
  'restore_document',
  { document_id: string },
  OutputOf<'restore_document'>
>;
export type MoveDocument = InTree<
  'move_document',
  { document_id: string; new_parent_id: string; position?: { ordering?: number; before?: string } },
  OutputOf<'move_document'>
>;
export type RevertDocument = InTree<
  'revert_document',
  { document_id: string; revision: number; last_known_revision?: number },
  OutputOf<'revert_document'>
>;
/** The hub itself gives a document and those around it short keys when its key has grown long. */
export type TidyOrder = InThread<'tidy_order', { document_id: string }>;
/** The hub itself forgets what was deleted long ago, a part at a time. */
export type PurgeDocument = InThread<
  'purge_document',
  { document_id: string },
  { purged: number; more: boolean }
>;

/** The bytes are kept already; the log tells of it. */
export type PutArtifact = InThread<
  'put_artifact',
  { name: string; mime_type: string; bytes: number; sha256: string },
  { artifact: Artifact }
> & { artifact_id: string };

/** A read under a key: first its number is noted and its key asked, then its answer is kept. */
export type NoteRead = Base<
  'note_read',
  Record<string, unknown>,
  /** The answer of the read, where it is kept. */ Record<string, unknown>
> & {
  order?: Order;
  answer?: Record<string, unknown>;
};
/** A nonce may be used once until it has run out. */
export type UseNonce = Base<'use_nonce', { kid: string; nonce: string; until: number }>;
/** The hub itself forgets nonces that have run out. */
export type ForgetNonces = Base<'forget_nonces', { keys: readonly string[] }, { forgotten: number }>;
/** An old name of a role was used: once a quarter that stands in the log of the tree. */
export type NoteAlias = InThread<'note_alias', { alias: string; role: string }, { quarter: string }>;
/** An action that is to end is used; `ends_at` is when its owner would like it to. */
export type NoteDeprecation = InThread<
  'note_deprecation',
  { action: string; version: string; ends_at: string; use?: string },
  { announced_at: string; ends_at: string }
>;
export type ReportHealth = Base<
  'report_health',
  { status: 'healthy' | 'degraded'; note?: string },
  OutputOf<'report_health'> | Ignored
> & {
  order?: Order;
};

/** An envelope is to be carried out later; the input is what its key binds. */
export type AcceptDelivery = Base<
  'accept_delivery',
  { action: EnvelopeAction; args: Record<string, unknown> },
  AcceptedDelivery | Ignored
> & {
  order?: Order;
  grant?: Grant;
  delivery: { delivery_id: string; eta: string; expires_at: string; idempotency_key: string };
};
/** `thread_id` of what becomes of a delivery is the journal of its sender. */
export type SettleDelivery = InThread<
  'settle_delivery',
  { delivery_id: string; outcome: DeliveryOutcome },
  { settled: boolean }
>;
export type RedriveDelivery = InThread<
  'redrive_delivery',
  { delivery_id: string },
  OutputOf<'redrive_deliveries'>['deliveries'][number]
> & { eta: string };
/** The hub itself forgets deliveries that ended long ago. */
export type ForgetDeliveries = Base<
  'forget_deliveries',
  { delivery_ids: readonly string[]; finished_before: string },
  { forgotten: number }
>;

export type AddDevice = Base<'add_device', { device: DeviceRecord }, { device: DeviceRecord }>;
/** A device was used: it stays for another while. */
export type TouchDevice = Base<
  'touch_device',
  { device_id: string; expires_at: string },
  { device: DeviceRecord }
>;
export type RevokeDevice = Base<'revoke_device', { device_id: string }, { device: DeviceRecord }>;
/** A name for an account of an issuer; `named` when the configuration itself gives it. */
export type BindPerson = Base<
  'bind_person',
  Pick<PersonRecord, 'agent_id' | 'issuer' | 'subject'> & { named: boolean },
  { person: PersonRecord }
>;
/** An account of an issuer was signed out: its devices and tokens end. */
export type EndPerson = Base<'end_person', Pick<PersonRecord, 'issuer' | 'subject'>, { ended: number }>;

/** The input is what was asked for; the channel is what came of it. */
export type AddChannel = Base<'add_channel', object, { channel: ChannelRecord }> & { channel: ChannelRecord };
export type UpdateChannel = Base<'update_channel', ChannelChange, { channel: ChannelRecord }> & {
  channel_id: string;
};
export type RemoveChannel = Base<'remove_channel', Record<string, never>, { channel: ChannelRecord }> & {
  channel_id: string;
};
/** The hub itself tells people, and keeps what it has told. */
export type MakeNotices = Base<
  'make_notices',
  Record<string, never>,
  /** Those that were not made before. */ { notices: Notice[] }
> & { notices: readonly Notice[] };
/** What became of a try to send a notice. */
export type MarkNotice = Base<
  'mark_notice',
  Pick<Notice, 'channel_id' | 'key' | 'notice_id' | 'tries' | 'state' | 'due_at' | 'why'> & {
    /** Its channel has ceased to be. */
    gone: boolean;
  },
  /** How the newest of its key stands now; null where it is forgotten. */ { notice: Notice | null }
>;
export type ForgetNotices = Base<'forget_notices', { keys: readonly string[]; created_by: string }>;

/** Everything that changes the hub: plain data, so that it crosses to the store's thread as it is. */
export type Command =
  | CreateThread
  | PostMessage
  | UpdateStatus
  | RenameThread
  | AckRead
  | ControlThread
  | EndMutes
  | AssignTask
  | ReportResult
  | NotePresence
  | OpenSide
  | CloseSide
  | Heartbeat
  | RegisterAgent
  | UpdateAgentStatus
  | ReportEvent
  | RecordCommand
  | RecordResponse
  | NoteAgentStates
  | ReportUsage
  | ForgetUsage
  | ForgetAgent
  | ForgetOnce
  | DismissError
  | RaiseAsk
  | AnswerAsk
  | TakeAsk
  | WithdrawAsk
  | ExpireAsk
  | DropAsk
  | AddApprovalRule
  | RevokeApprovalRule
  | ApplyApprovalRule
  | IssueChallenge
  | IssuePasskeyCode
  | AddPasskey
  | RemovePasskey
  | NoteOffers
  | NoteWake
  | NoteFollower
  | TakeLease
  | ReleaseLease
  | NoteClock
  | SetQuiet
  | CreateDocument
  | UpdateDocument
  | DeleteDocument
  | RestoreDocument
  | MoveDocument
  | RevertDocument
  | TidyOrder
  | PurgeDocument
  | PutArtifact
  | NoteRead
  | UseNonce
  | ForgetNonces
  | NoteAlias
  | NoteDeprecation
  | ReportHealth
  | AcceptDelivery
  | SettleDelivery
  | RedriveDelivery
  | ForgetDeliveries
  | AddDevice
  | TouchDevice
  | RevokeDevice
  | BindPerson
  | EndPerson
  | AddChannel
  | UpdateChannel
  | RemoveChannel
  | MakeNotices
  | MarkNotice
  | ForgetNotices;

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
