import { z } from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { Control, Participant, Profile } from './controls.ts';
import { IdempotencyKey, MessageId, Metadata, Seq, ThreadId, Timestamp } from './entities.ts';
import { LIMITS } from './limits.ts';
import { Name, storableText } from './text.ts';

const Written = z.object({ message_id: MessageId, seq: Seq, created_at: Timestamp });
const Invoking = Written.extend({ invokes: z.array(Name).optional() });

export const controlThread = contract({
  name: 'control_thread',
  version: '1.0.0',
  title: 'Steer a thread',
  description:
    'One control: mute, unmute, pause, prod, done, ttl_seconds, discussion, invited_auto, invite, policy or profile. All but prod and profile are for operators and orchestrators.',
  input: z.object({ thread_id: ThreadId, control: Control, idempotency_key: IdempotencyKey.optional() }),
  output: Invoking,
  annotations: WRITES,
  essential: false,
  strict: true,
});

export const shouldRespond = contract({
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
  output: z.object({ respond: z.boolean(), rule: z.string(), reason: z.string() }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/threads/{thread_id}/messages/{message_id}/should_respond' },
  essential: false,
});

export const PresenceState = z.enum(['listening', 'thinking', 'typing', 'idle', 'offline']);
export type PresenceState = z.infer<typeof PresenceState>;

export const setPresence = contract({
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
  }),
  output: z.object({
    ok: z.literal(true),
    expires_at: Timestamp,
    seq: Seq.optional().describe('of the transition, where it was written'),
    message_id: MessageId.optional(),
  }),
  annotations: WRITES,
  essential: false,
});

export const listPresence = contract({
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

export const assignTask = contract({
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
  output: Invoking,
  annotations: WRITES,
  essential: false,
  cost: 'message',
});

export const reportResult = contract({
  name: 'report_result',
  version: '1.0.0',
  title: 'Report a task’s result',
  description: 'What came of a task; names the task it answers.',
  input: z.object({
    thread_id: ThreadId,
    task: MessageId.describe('message_id of the task'),
    body: storableText({ maxBytes: LIMITS.body_bytes }),
    metadata: Metadata.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Written,
  annotations: WRITES,
  essential: false,
  cost: 'message',
});

export const openSideChannel = contract({
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

export const closeSideChannel = contract({
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
