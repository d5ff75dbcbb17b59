import type {
  AgentEvent,
  AgentRegistration,
  AgentStatus,
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
  PostedKind,
  Quiet,
  Session,
  ThreadStatus,
  ThreadType,
  Trace,
} from '@parley/protocol';

import type { KeptLeave } from './asks/standing-leave.ts';
import type { Entry } from './entry.ts';
import type { Outcome } from './queue/outcome.ts';
import type { KeptDevice, Offer, PutRecord, RecordKinds, RecordName, RecordReader } from './records.ts';
import type { KeptChannel, Notice } from './notify/notice.ts';
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
}

interface Base<T extends string, I> {
  type: T;
  caller: Caller;
  /** Wall-clock milliseconds: at the gate, and once the store decides the time of that, if it is later. */
  now: number;
  /** Nothing comes of it after this moment, however long it waited for its turn. */
  deadline?: number;
  /** Randomness for ids, drawn outside the rules. */
  salt: number;
  idempotency?: Idempotency;
  /** The trace in which it was asked for; no part of what a key binds, since a repeat is a new span. */
  trace?: Trace;
  input: I;
}

interface InThread<T extends string, I> extends Base<T, I> {
  thread_id: string;
}

interface Content {
  body: string;
  metadata?: Record<string, unknown>;
  idempotency_key?: string;
}

export type CreateThread = InThread<
  'create_thread',
  { title: string; type: ThreadType; participants: string[] }
>;
export type PostMessage = InThread<
  'post_message',
  Content & { schema_version: number; kind: PostedKind; in_reply_to?: string; to?: string }
>;
export type UpdateStatus = InThread<'update_status', { status: ThreadStatus; reason: string }>;
export type RenameThread = InThread<'rename_thread', { title: string }>;
export type AckRead = InThread<'ack_read', { last_read_seq: number }>;
export type ControlThread = InThread<'control_thread', { control: Control }>;
/** Their time is up: the hub lets those speak again who were muted for a while. */
export type EndMutes = InThread<'end_mutes', Record<string, never>>;
export type AssignTask = InThread<'assign_task', Content & { to?: string; role?: string }>;
export type ReportResult = InThread<'report_result', Content & { task: string }>;
/** A presence that was asked to stand in the log. */
export type NotePresence = InThread<'note_presence', { transition: string; state: string }>;
/** `thread_id` is the main thread, `side_id` the new one. */
export type OpenSide = InThread<'open_side', { title: string; purpose: string; participants: string[] }> & {
  side_id: string;
};
/** `thread_id` is the side channel, `main_id` the thread it hangs on. */
export type CloseSide = InThread<'close_side', { summary: string }> & { main_id: string };

export type Heartbeat = Base<
  'heartbeat',
  {
    runtime: string;
    status: Session['status'];
    resumable: boolean;
    management_mode: ManagementMode;
    native_session_id?: string | undefined;
  }
>;
/** `thread_id` of all that concerns an agent and no other thread is the agent's journal. */
export type RegisterAgent = InThread<'register_agent', AgentRegistration>;
export type UpdateAgentStatus = Base<'update_agent_status', AgentStatus>;
export type ReportEvent = InThread<'report_event', AgentEvent>;
export type RecordCommand = InThread<
  'record_command',
  {
    of_agent: string;
    command_id: string;
    command: string;
    parameters?: Record<string, unknown>;
    opaque?: boolean;
    correlation_id?: string;
  }
>;
export type RecordResponse = InThread<
  'record_response',
  { command_id: string; success: boolean; error_code?: string; execution_ms: number }
>;

export type RaiseAsk = InThread<'raise_ask', AskContent & { expires_in_ms: number }> & { ask_id: string };
export type AnswerAsk = InThread<'answer_ask', AskAnswer> & { ask_id: string };
/** The agent has the verdict in hand. */
export type TakeAsk = InThread<'take_ask', Record<string, never>> & { ask_id: string };
/** The agent needs no answer any more. */
export type WithdrawAsk = InThread<'withdraw_ask', { reason: string }> & { ask_id: string };
/** Its time is up: the hub itself denies it. */
export type ExpireAsk = InThread<'expire_ask', Record<string, never>> & { ask_id: string };

/** A person allows something in advance. */
/** `thread_id` of all that is allowed in advance is the journal of the agent. */
export type AddLeave = InThread<'add_leave', object> & { leave: KeptLeave };
export type RevokeLeave = InThread<'revoke_leave', { leave_id: string }>;
/** The hub answers an ask by what a person has allowed. */
export type ApplyLeave = InThread<'apply_leave', { leave_id: string }> & { ask_id: string };

export type NoteOffers = Base<'note_offers', { offers: Offer[] }>;

/** What is told of a wake in the journal of its target. */
export interface WakeStep {
  text: string;
  facts: Record<string, unknown>;
}

/** `thread_id` is the journal of the target; the input is what was asked for, the same for every step. */
export type NoteWake = InThread<
  'note_wake',
  { thread_id: string; target_agent_id: string; reason: string }
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
  }
>;
export type NoteFollower = Base<'note_follower', { name: string; pos: number }>;

/** What the hub knows of its clock. */
export type NoteClock = Base<'note_clock', KnownTime>;

/** A sender's own number for what it sends in one context; a lower one than the last is not carried out. */
export interface Order {
  context_id: string;
  seq: number;
}

/** `thread_id` of all that concerns documents is the log of the workspace's tree. */
type InTree<T extends string, I> = InThread<T, I> & { order?: Order };
export type CreateDocument = InTree<
  'create_document',
  {
    document_id: string;
    parent_id: string;
    content: DocumentContent;
    metadata: DocumentMetadata;
    is_human_readable: boolean;
    created_at?: string;
  }
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
  }
>;
export type DeleteDocument = InTree<
  'delete_document',
  { document_id: string; reason?: string; delete_at?: string }
>;
export type RestoreDocument = InTree<'restore_document', { document_id: string }>;
export type MoveDocument = InTree<
  'move_document',
  { document_id: string; new_parent_id: string; position?: { ordering?: number; before?: string } }
>;
export type RevertDocument = InTree<
  'revert_document',
  { document_id: string; revision: number; last_known_revision?: number }
>;
/** The hub itself gives siblings short keys when their keys have grown long. */
export type TidyOrder = InThread<'tidy_order', { parent_id: string }>;
/** The hub itself forgets what was deleted long ago, a part at a time. */
export type PurgeDocument = InThread<'purge_document', { document_id: string }>;

/** The bytes are kept already; the log tells of it. */
export type PutArtifact = InThread<
  'put_artifact',
  { name: string; mime_type: string; bytes: number; sha256: string }
> & { artifact_id: string };

export type NoteSeq = Base<'note_seq', Order>;
/** A nonce may be used once until it has run out. */
export type UseNonce = Base<'use_nonce', { kid: string; nonce: string; until: number }>;
/** The hub itself forgets nonces that have run out. */
export type ForgetNonces = Base<'forget_nonces', { keys: readonly string[] }>;
/** An old name of a role was used: once a quarter that stands in the log of the tree. */
export type NoteAlias = InThread<'note_alias', { alias: string; role: string }>;
/** An action that is to end is used; `ends_at` is when its owner would like it to. */
export type NoteDeprecation = InThread<
  'note_deprecation',
  { action: string; version: string; ends_at: string; use?: string }
>;
export type ReportHealth = Base<'report_health', { status: 'healthy' | 'degraded'; note?: string }> & {
  order?: Order;
};

/** An envelope is to be carried out later; the input is what its key binds. */
export type AcceptDelivery = Base<
  'accept_delivery',
  { action: EnvelopeAction; args: Record<string, unknown> }
> & {
  order?: Order;
  delivery: { delivery_id: string; expires_at: string; idempotency_key: string };
};
/** `thread_id` of what becomes of a delivery is the journal of its sender. */
export type SettleDelivery = InThread<'settle_delivery', { delivery_id: string; outcome: Outcome }>;
export type RedriveDelivery = InThread<'redrive_delivery', { delivery_id: string }>;
/** The hub itself forgets deliveries that ended long ago. */
export type ForgetDeliveries = Base<
  'forget_deliveries',
  { delivery_ids: readonly string[]; finished_before: string }
>;

export type AddDevice = Base<'add_device', { device: KeptDevice }>;
/** A device was used: it stays for another while. */
export type TouchDevice = Base<'touch_device', { device_id: string; expires_at: string }>;
export type RevokeDevice = Base<'revoke_device', { device_id: string }>;

/** The input is what was asked for; the channel is what came of it. */
export type AddChannel = Base<'add_channel', object> & { channel: KeptChannel };
export type UpdateChannel = Base<'update_channel', ChannelChange> & { channel_id: string };
export type RemoveChannel = Base<'remove_channel', Record<string, never>> & { channel_id: string };
/** The hub itself tells people, and keeps what it has told. */
export type MakeNotices = Base<'make_notices', Record<string, never>> & { notices: readonly Notice[] };
export type MarkNotice = Base<'mark_notice', Record<string, never>> & {
  notice: Notice;
  /** Its channel has ceased to be. */
  gone: boolean;
};
export type ForgetNotices = Base<'forget_notices', { keys: readonly string[] }>;

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
  | RaiseAsk
  | AnswerAsk
  | TakeAsk
  | WithdrawAsk
  | ExpireAsk
  | AddLeave
  | RevokeLeave
  | ApplyLeave
  | NoteOffers
  | NoteWake
  | NoteFollower
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
  | NoteSeq
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
  | AddChannel
  | UpdateChannel
  | RemoveChannel
  | MakeNotices
  | MarkNotice
  | ForgetNotices;

export type ThreadCommand = Extract<Command, { thread_id: string }>;

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
  record?: { kind: 'agent' | 'ask' | 'session' | 'device' | 'channel'; key: string };
  /** Whatever the rule finds that it must know. */
  records?: true;
}

/** What a store hands to the rules. */
export interface Loaded {
  located: Located;
  other?: Located;
  entry: Entry | undefined;
  cursor: Cursor | undefined;
  record?: RecordKinds['agent' | 'ask' | 'session' | 'device' | 'channel'];
  records?: RecordReader;
}

/** What a decision adds to one thread. */
export interface ThreadChange {
  entries: Entry[];
  thread: ThreadState;
}

/** What the rules want written, all or nothing, and the answer to give once it is durable. */
export interface Decision {
  changes: ThreadChange[];
  cursor?: Cursor;
  records?: PutRecord[];
  drops?: RecordName[];
  result: Record<string, unknown>;
}

/** One command's rule: what it must know, and what it then decides. */
export interface Rule<C extends Command> {
  needs(command: C): Needs;
  decide(loaded: Loaded, command: C): Decision;
}
