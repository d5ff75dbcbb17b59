import * as z from 'zod';

import { Control, Participant, Profile } from './controls.ts';
import { PresenceState } from './contracts-participation.ts';
import { MessageId, Tags, ThreadId, Timestamp } from './entities.ts';
import { LIMITS } from './limits.ts';
import { Name, storableObject, storableText } from './text.ts';

export const EVENT_KINDS = ['message', 'control', 'presence', 'task', 'result'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** One thing that happened in a thread, in the words of the events face; a presence that is not kept has no id. */
export interface ThreadEvent {
  /** The ULID inside the message id of the same log entry. */
  id?: string;
  ts: string;
  thread: string;
  type: EventKind;
  from: string;
  /** `all`, or the one participant it is for. */
  to: string;
  /** Absent where a control has none. */
  content?: unknown;
  meta: {
    seq?: number;
    reply_to?: string;
    tags?: string[];
    /** What the same entry's message is called on the other faces. */
    kind?: string;
    human?: true;
    role?: string;
    metadata?: Record<string, unknown>;
    /** Whom it calls upon, and whom it names in vain. */
    called?: string[];
    not_called?: { agent: string; why: string }[];
  };
}

const Text = storableText({ maxBytes: LIMITS.body_bytes });

/** What a client may say of any event; all of it but `type` and `content` may be left out. */
const HEAD = {
  id: storableText({ maxBytes: 128 })
    .optional()
    .describe('your own id for the event; sent again, nothing happens twice'),
  ts: Timestamp.optional().describe('your clock; the hub goes by its own'),
  thread: ThreadId.optional(),
  from: Name.optional(),
} as const;

const Meta = z.strictObject({ reply_to: MessageId.optional(), tags: Tags.optional() });

/** The events that a client may post, each with the content and the meta it takes; nothing else is taken. */
const POSTED = {
  message: z.strictObject({
    ...HEAD,
    type: z.literal('message'),
    to: Name.optional(),
    content: Text,
    meta: Meta.optional(),
  }),
  control: z.strictObject({
    ...HEAD,
    type: z.literal('control'),
    to: Name.optional(),
    content: Control.optional(),
    meta: Meta.optional(),
  }),
  presence: z.strictObject({
    ...HEAD,
    type: z.literal('presence'),
    to: Name.optional(),
    content: z
      .strictObject({
        state: PresenceState,
        details: Profile.optional(),
        ttl_ms: z.number().int().min(1_000).max(3_600_000).optional(),
        persist: z.boolean().optional(),
      })
      .default({ state: 'listening' }),
    meta: Meta.optional(),
  }),
  task: z
    .strictObject({
      ...HEAD,
      type: z.literal('task'),
      to: Participant.optional(),
      content: Text,
      meta: z
        .strictObject({ tags: Tags.optional(), role: storableText({ maxBytes: 64 }).optional() })
        .optional(),
    })
    .refine(({ to, meta }) => (to === undefined) !== (meta?.role === undefined), {
      error: 'name either a participant (to) or a role (meta.role)',
      path: ['to'],
    }),
  result: z
    .strictObject({
      ...HEAD,
      type: z.literal('result'),
      to: Name.optional(),
      content: z.union([Text, storableObject(LIMITS.body_bytes)], {
        error: 'must be a text or an object',
      }),
      meta: z.strictObject({
        reply_to: MessageId.optional(),
        task_id: MessageId.optional(),
        tags: Tags.optional(),
      }),
    })
    .refine(({ meta }) => (meta.reply_to === undefined) !== (meta.task_id === undefined), {
      error: 'name the task it answers, in reply_to or in task_id',
      path: ['meta', 'reply_to'],
    }),
} as const satisfies Record<EventKind, z.ZodType>;

/** An event as a client posts it; `type` decides what else it may hold. */
export const PostedEvent = z.discriminatedUnion('type', [
  POSTED.message,
  POSTED.control,
  POSTED.presence,
  POSTED.task,
  POSTED.result,
]);
export type PostedEvent = z.output<typeof PostedEvent>;

/** The message id of an event's id; both are taken where an event is named. */
export function messageIdOfEvent(id: string): string {
  return id.startsWith('msg_') ? id : `msg_${id}`;
}

/** The event's id of a message id. */
export function eventIdOf(messageId: string): string {
  return messageId.replace(/^msg_/, '');
}
