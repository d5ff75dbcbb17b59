import * as z from 'zod';

import { CALLS } from './calls.ts';
import { contract, READS, WRITES } from './contract.ts';
import { Control, Participant, Profile } from './controls.ts';
import { IdempotencyKey, MessageId, Metadata, Seq, Tags, ThreadId, Timestamp } from './entities.ts';
import { LIMITS } from './limits.ts';
import { Name, storableObject, storableText } from './text.ts';

/** What may go with a control or a presence as with a message. */
const ASIDE = {
  to: Name.optional().describe('the one it is for; all when left out'),
  in_reply_to: MessageId.optional(),
  tags: Tags.optional(),
} as const;

const Written = z.object({ message_id: MessageId, seq: Seq, created_at: Timestamp, ...CALLS });

const controlThread = contract({
  name: 'control_thread',
  version: '1.0.0',
  title: 'Steer a thread',
  description:
    'One control: mute, unmute, pause, prod, done, ttl_seconds, discussion, invited_auto, invite, remove, leave, policy or profile. All but prod, leave and profile are for operators and orchestrators. Without a control it stands in the log and changes nothing.',
  input: z.object({
    thread_id: ThreadId,
    control: Control.optional(),
    ...ASIDE,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Written,
  annotations: WRITES,
  essential: false,
  strict: true,
});

const shouldRespond = contract({
  name: 'should_respond',
  version: '1.0.0',
  title: 'Should I respond?',
  description:
    'Whether you should respond to a message, and by which rule: you were targeted, prodded, invited, mentioned; or the thread is small. Ask before you answer a message that is for all.',
  input: z.object({
    thread_id: ThreadId,
    message_id: MessageId,
    participant: Name.optional().describe('somebody else, for those who steer'),
  }),
  output: z.object({
    respond: z.boolean(),
    rule: z.string(),
    reason: z.string(),
    wait_for: z.array(Name).optional().describe('who is at an answer already: ask again when they are done'),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/threads/{thread_id}/messages/{message_id}/should_respond' },
  essential: false,
});

export const PresenceState = z.enum(['listening', 'thinking', 'typing', 'idle', 'offline']);
export type PresenceState = z.infer<typeof PresenceState>;

const setPresence = contract({
  name: 'set_presence',
  version: '1.0.0',
  title: 'Say how you are present',
  description:
    'listening, thinking, typing, idle or offline in a thread; it fades by itself. Not kept in the log unless persist is set.',
  input: z.object({
    thread_id: ThreadId,
    state: PresenceState,
    profile: Profile.optional(),
    ttl_ms: z.number().int().min(1_000).max(3_600_000).optional(),
    persist: z.boolean().optional().describe('write the transition to the log'),
    ...ASIDE,
  }),
  output: z.object({
    ok: z.literal(true),
    expires_at: Timestamp,
    seq: Seq.optional().describe('of the transition, where it was written'),
    message_id: MessageId.optional(),
  }),
  annotations: WRITES,
  essential: false,
  shows: 'state',
});

const listPresence = contract({
  name: 'list_presence',
  version: '1.0.0',
  title: 'Who is present',
  description: 'Every participant of a thread: invited since when, present how, with what profile.',
  input: z.object({ thread_id: ThreadId }),
  output: z.object({
    participants: z.array(
      z.object({
        agent_id: Name,
        state: PresenceState,
        since: Timestamp.nullable(),
        profile: Profile.optional(),
        muted: z.boolean(),
      }),
    ),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/threads/{thread_id}/presence' },
  essential: false,
});

const assignTask = contract({
  name: 'assign_task',
  version: '1.0.0',
  title: 'Assign a task',
  description:
    'Ask one participant, or whoever has a role, for a piece of work; it answers with report_result.',
  input: z
    .object({
      thread_id: ThreadId,
      to: Participant.optional(),
      role: storableText({ maxBytes: 64 }).optional(),
      body: storableText({ maxBytes: LIMITS.body_bytes }),
      metadata: Metadata.optional(),
      idempotency_key: IdempotencyKey.optional(),
    })
    .refine(({ to, role }) => (to === undefined) !== (role === undefined), {
      error: 'name either a participant (to) or a role',
      path: ['to'],
    }),
  output: Written,
  annotations: WRITES,
  essential: false,
  cost: 'message',
});

const reportResult = contract({
  name: 'report_result',
  version: '1.0.0',
  title: 'Report a task’s result',
  description: 'What came of a task; names the task it answers.',
  input: z
    .object({
      thread_id: ThreadId,
      task: MessageId.describe('message_id of the task'),
      to: Name.optional().describe('whom it is for; whoever assigned the task when left out'),
      body: storableText({ maxBytes: LIMITS.body_bytes })
        .optional()
        .describe('in words; else the output as text'),
      output: storableObject(LIMITS.body_bytes).optional().describe('the result as data'),
      metadata: Metadata.optional(),
      idempotency_key: IdempotencyKey.optional(),
    })
    .refine(({ body, output }) => body !== undefined || output !== undefined, {
      error: 'give the result in words (body), as data (output), or both',
      path: ['body'],
    }),
  output: Written,
  annotations: WRITES,
  essential: false,
  cost: 'message',
});

const openSideChannel = contract({
  name: 'open_side_channel',
  version: '1.0.0',
  title: 'Open a side channel',
  description:
    'A thread beside a thread, for detail that not everybody must read; all of the main thread can see it. Close it with a summary.',
  input: z.object({
    thread_id: ThreadId.describe('the main thread'),
    title: storableText({ maxBytes: LIMITS.title_bytes }),
    purpose: storableText({ maxBytes: LIMITS.reason_bytes }),
    participants: z.array(Participant).max(LIMITS.participants).default([]),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ thread_id: ThreadId, main_thread_id: ThreadId, link_message_id: MessageId }),
  annotations: WRITES,
  essential: false,
});

const closeSideChannel = contract({
  name: 'close_side_channel',
  version: '1.0.0',
  title: 'Close a side channel',
  description: 'End a side channel with a short summary, which is threaded back into the main thread.',
  input: z.object({
    thread_id: ThreadId.describe('the side channel'),
    summary: storableText({ maxBytes: LIMITS.reason_bytes }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ thread_id: ThreadId, main_thread_id: ThreadId, summary_message_id: MessageId }),
  annotations: WRITES,
  essential: false,
});

/** By name: the table of contracts takes them from here. */
export const participationContracts = {
  control_thread: controlThread,
  should_respond: shouldRespond,
  set_presence: setPresence,
  list_presence: listPresence,
  assign_task: assignTask,
  report_result: reportResult,
  open_side_channel: openSideChannel,
  close_side_channel: closeSideChannel,
};
