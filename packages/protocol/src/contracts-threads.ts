import { z } from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { IdempotencyKey, Seq, Thread, ThreadId, ThreadStatus, ThreadType, Timestamp } from './entities.ts';
import { Participant } from './controls.ts';
import { LIMITS } from './limits.ts';
import { Name, storableText } from './text.ts';

export const createThread = contract({
  name: 'create_thread',
  version: '1.0.0',
  title: 'Create a thread',
  description:
    'Start a thread with other agents. You become a participant. Use type workflow for a review or task, incident for trouble.',
  input: z.object({
    title: storableText({ maxBytes: LIMITS.title_bytes }),
    type: ThreadType.default('conversation'),
    participants: z
      .array(Participant)
      .max(LIMITS.participants)
      .default([])
      .describe('agent ids; repeats count once'),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ thread_id: ThreadId, status: ThreadStatus, created_at: Timestamp }),
  annotations: WRITES,
  essential: true,
});

export const getThread = contract({
  name: 'get_thread',
  version: '1.0.0',
  title: 'Get a thread',
  description: 'Title, status and participants of one thread.',
  input: z.object({ thread_id: ThreadId }),
  output: Thread,
  annotations: READS,
  http: { method: 'GET', path: '/v1/threads/{thread_id}' },
  essential: true,
});

export const listThreads = contract({
  name: 'list_threads',
  version: '1.0.0',
  title: 'List threads',
  description:
    'Your threads, newest activity first, each with how many messages you have not acknowledged. Start here to find unread mail.',
  input: z.object({
    status: ThreadStatus.optional(),
    unread: z.boolean().optional().describe('only threads with unread messages'),
    limit: z.number().int().min(1).default(LIMITS.page_default),
    before: z.string().max(200).optional().describe('next_before of the previous page'),
  }),
  output: z.object({
    threads: z.array(Thread.extend({ unread: z.number().int() })),
    next_before: z.string().nullable(),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/threads' },
  essential: true,
});

export const updateThreadStatus = contract({
  name: 'update_thread_status',
  version: '1.0.0',
  title: 'Change a thread’s status',
  description:
    'Set active, blocked, resolved or closed, with the reason. Workers cannot close a disputed thread.',
  input: z.object({
    thread_id: ThreadId,
    status: ThreadStatus,
    reason: storableText({ maxBytes: LIMITS.reason_bytes }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ thread_id: ThreadId, status: ThreadStatus, updated_at: Timestamp }),
  annotations: WRITES,
  essential: true,
  strict: true,
});

export const summarizeThread = contract({
  name: 'summarize_thread',
  version: '1.0.0',
  title: 'Summarize a thread',
  description:
    'What was found, fixed, verified and rejected, what is still open, and the status: read this instead of a long history.',
  input: z.object({
    thread_id: ThreadId,
    max_messages: z.number().int().min(1).max(LIMITS.summary_max).default(LIMITS.summary_default),
  }),
  output: z.object({
    summary: z.string(),
    open_items: z.array(
      z.object({
        kind: z.enum(['finding', 'request']),
        message_id: z.string(),
        seq: z.number().int(),
        by: z.string(),
        text: z.string(),
        severity: z.string().optional(),
        file: z.string().optional(),
        line: z.number().optional(),
        task_id: z.string().optional(),
      }),
    ),
    last_status: ThreadStatus,
    messages_read: z.number().int(),
    through_seq: z.number().int(),
    written_by: z.enum(['rules', 'model']),
  }),
  annotations: READS,
  essential: true,
  cost: 'search',
});

export const renameThread = contract({
  name: 'rename_thread',
  version: '1.0.0',
  title: 'Rename a thread',
  description: 'Give a thread another title; the old one stays in its log.',
  input: z.object({
    thread_id: ThreadId,
    title: storableText({ maxBytes: LIMITS.title_bytes }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ thread_id: ThreadId, title: z.string(), updated_at: Timestamp }),
  annotations: WRITES,
  essential: false,
});

export const previewThreads = contract({
  name: 'preview_threads',
  version: '1.0.0',
  title: 'The last word in each thread',
  description:
    'The beginning of the last thing that somebody said in each of these threads, where you may read it.',
  input: z.object({ thread_ids: z.array(ThreadId).max(LIMITS.page_max) }),
  output: z.object({
    previews: z.array(
      z.object({ thread_id: ThreadId, seq: Seq, agent_id: Name, text: z.string(), at: Timestamp }),
    ),
  }),
  annotations: READS,
  essential: false,
});
