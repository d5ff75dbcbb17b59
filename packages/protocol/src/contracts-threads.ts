import * as z from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import {
  IdempotencyKey,
  MessageId,
  Metadata,
  Seq,
  Thread,
  ThreadGroup,
  ThreadId,
  ThreadStatus,
  ThreadType,
  Timestamp,
} from './entities.ts';
import { Participant } from './controls.ts';
import { LIMITS } from './limits.ts';
import { Name, storableText } from './text.ts';

/** A thread, and where the one who asks stands in it. */
const ReadThread = Thread.extend({
  last_read_seq: Seq.describe('how far you have acknowledged it'),
  last_acked_message_id: MessageId.nullable(),
  unread: z.number().int().describe('messages of others after that'),
}).meta({ id: 'Thread' });

const createThread = contract({
  name: 'create_thread',
  version: '1.0.0',
  title: 'Create a thread',
  description:
    'Start a thread with other agents. You become a participant. Use type workflow for a review or task, incident for trouble.',
  input: z.object({
    title: storableText({ maxBytes: LIMITS.title_bytes }),
    type: ThreadType.default('conversation'),
    participants: z.array(Participant).max(LIMITS.participants).default([]).describe('agent ids'),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ thread_id: ThreadId, status: ThreadStatus, created_at: Timestamp }),
  annotations: WRITES,
  essential: true,
});

const getThread = contract({
  name: 'get_thread',
  version: '1.0.0',
  title: 'Get a thread',
  description: 'Title, status and participants of one thread.',
  input: z.object({ thread_id: ThreadId }),
  output: ReadThread,
  annotations: READS,
  http: { method: 'GET', path: '/v1/threads/{thread_id}' },
  essential: true,
});

const listThreads = contract({
  name: 'list_threads',
  version: '1.0.0',
  title: 'List threads',
  description:
    'Your threads, newest activity first, each with how many messages you have not acknowledged. Start here to find unread mail.',
  input: z.object({
    status: ThreadStatus.optional(),
    unread: z.boolean().optional().describe('only threads with unread messages'),
    group: ThreadGroup.optional().describe(
      'open: active or blocked; blocked: open, and blocked or with an open finding; done: resolved or closed',
    ),
    text: z.string().trim().min(1).max(200).optional().describe('words that all stand in the title'),
    with_agent: Name.optional().describe('only threads that this agent takes part in'),
    folder: z
      .string()
      .min(1)
      .max(1_024)
      .optional()
      .describe('only threads of agents that work in this folder or below it'),
    counts: z.boolean().optional().describe('also count the threads of each group'),
    limit: z.number().int().min(1).default(LIMITS.page_default),
    before: z.string().max(200).optional().describe('next_before of the previous page'),
  }),
  output: z.object({
    threads: z.array(ReadThread),
    next_before: z.string().nullable(),
    counts: z
      .object({
        open: z.number().int(),
        unread: z.number().int().describe('with unread messages, closed ones aside'),
        blocked: z.number().int(),
        done: z.number().int(),
        complete: z.boolean().describe('false: only the newest 10,000 were looked at'),
      })
      .optional()
      .describe('of all threads that text, with_agent and folder name'),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/threads' },
  essential: true,
  unlisted: ['group', 'text', 'with_agent', 'folder', 'counts'],
});

const updateThreadStatus = contract({
  name: 'update_thread_status',
  version: '1.0.0',
  title: 'Change a thread’s status',
  description:
    'Set active, blocked, resolved or closed, with the reason. Workers cannot close a disputed thread.',
  input: z.object({
    thread_id: ThreadId,
    status: ThreadStatus,
    reason: storableText({ maxBytes: LIMITS.reason_bytes }),
    metadata: Metadata.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ thread_id: ThreadId, status: ThreadStatus, updated_at: Timestamp }),
  annotations: WRITES,
  essential: true,
  strict: true,
});

const summarizeThread = contract({
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

const renameThread = contract({
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

const previewThreads = contract({
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

/** By name: the table of contracts takes them from here. */
export const threadContracts = {
  create_thread: createThread,
  get_thread: getThread,
  list_threads: listThreads,
  update_thread_status: updateThreadStatus,
  summarize_thread: summarizeThread,
  rename_thread: renameThread,
  preview_threads: previewThreads,
};
