import * as z from 'zod';

import { Profile } from './controls.ts';
import { DailyHours } from './daily-hours.ts';
import { LIMITS, SCHEMA_VERSIONS } from './limits.ts';
import { Name, storableObject, storableText } from './text.ts';

export const ThreadType = z.enum(['conversation', 'workflow', 'incident']);
export const ThreadStatus = z.enum(['active', 'blocked', 'resolved', 'closed']);
export const MessageKind = z.enum(['chat', 'event', 'system']);
/** The kinds that callers may send: what the hub itself puts on record is nobody else's to say. */
export const PostedKind = z.enum(['chat', 'event'], {
  error: 'must be chat or event; only the hub itself writes system',
});
export const Role = z.enum(['operator', 'orchestrator', 'worker', 'observer']);
export const SessionStatus = z.enum(['active', 'idle', 'offline']);
export const ManagementMode = z.enum(['managed', 'unmanaged']);

export type ThreadType = z.infer<typeof ThreadType>;
export type ThreadStatus = z.infer<typeof ThreadStatus>;

/** Threads as people ask for them: at work, held up by word or by an open finding, or over. */
export const ThreadGroup = z.enum(['open', 'blocked', 'done']);
export type ThreadGroup = z.infer<typeof ThreadGroup>;
export type PostedKind = z.infer<typeof PostedKind>;
export type Role = z.infer<typeof Role>;
export type ManagementMode = z.infer<typeof ManagementMode>;

/** A moment as every face writes it: UTC, ISO 8601, milliseconds. */
export const Timestamp = z.iso.datetime();

export const ThreadId = z.string().min(1).max(128);
export const MessageId = z.string().min(1).max(128);
export const Seq = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const IdempotencyKey = storableText({ maxBytes: LIMITS.idempotency_key_bytes }).describe(
  'your own word for this call; sent again it does nothing twice',
);
export const Tags = z.array(storableText({ maxBytes: 64 })).max(32);
export const Metadata = storableObject(LIMITS.metadata_bytes);

export const SchemaVersion = z.literal(SCHEMA_VERSIONS, {
  error: `must be one of the supported versions: ${SCHEMA_VERSIONS.join(', ')}`,
});

export const Thread = z.object({
  thread_id: ThreadId,
  workspace_id: Name,
  title: z.string(),
  type: ThreadType,
  status: ThreadStatus,
  participants: z.array(Name),
  created_by: Name,
  created_at: Timestamp,
  updated_at: Timestamp,
  last_seq: Seq.describe('seq of the newest message; 0 when there is none'),
  disputed: z.boolean().describe('an open finding, or a finding rejected by someone other than its reporter'),
  muted: z.array(Name).optional(),
  muted_until: z.record(z.string(), Timestamp).optional().describe('when the hub unmutes whom'),
  paused: z.boolean().optional().describe('only people may post'),
  done: z.boolean().optional(),
  expires_at: Timestamp.optional().describe('agents stop responding then'),
  discussion: z.object({ on: z.boolean(), allow_agent_mentions: z.boolean() }).optional(),
  invited_auto: z.boolean().optional(),
  policy: z.object({ mode: z.string(), threshold: z.number().int().optional() }).optional(),
  prodded: z.array(Name).optional(),
  profiles: z.record(z.string(), Profile).optional(),
  side_of: ThreadId.optional().describe('the main thread of this side channel'),
  side_channels: z
    .array(
      z.object({
        thread_id: ThreadId,
        title: z.string(),
        purpose: z.string().optional(),
        owner: Name,
        opened_at: Timestamp,
        closed_at: Timestamp.optional(),
      }),
    )
    .optional(),
  journal_of: Name.optional(),
  tree: z.literal(true).optional().describe('the log of the documents'),
});
export type Thread = z.infer<typeof Thread>;

export const Message = z
  .object({
    message_id: MessageId,
    thread_id: ThreadId,
    schema_version: z.number().int(),
    seq: Seq,
    sender_agent_id: Name,
    sender_session_id: Name,
    human: z.literal(true).optional().describe('said by a person'),
    to: Name.optional().describe('the one it is for; all when absent'),
    kind: MessageKind,
    body: z.string(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    in_reply_to: MessageId.optional(),
    idempotency_key: z.string().optional(),
    created_at: Timestamp,
    called: z.array(Name).optional().describe('whom it calls upon'),
  })
  .meta({ id: 'Message' });
export type Message = z.infer<typeof Message>;

export const Cursor = z
  .object({
    thread_id: ThreadId,
    agent_id: Name,
    last_read_seq: Seq,
    last_acked_message_id: MessageId.nullable(),
    updated_at: Timestamp,
  })
  .meta({ id: 'Cursor' });
export type Cursor = z.infer<typeof Cursor>;

export const Session = z
  .object({
    agent_id: Name,
    workspace_id: Name,
    session_id: Name,
    runtime: z.string(),
    management_mode: ManagementMode,
    resumable: z.boolean(),
    last_heartbeat_at: Timestamp,
    status: SessionStatus,
    native_session_id: z.string().optional().describe("the runtime's own id of it, by which it is resumed"),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;

/** That an agent, or everybody of a workspace, is not to be woken. */
export const Quiet = z
  .object({
    agent_id: Name.nullable().describe('null for everybody'),
    since: z.iso.datetime(),
    by: Name,
    until: z.iso.datetime().optional(),
    hours: DailyHours.optional(),
    reason: z.string().optional(),
  })
  .meta({ id: 'Quiet' });
export type Quiet = z.infer<typeof Quiet>;
