import type { InputOf, OperationName } from '@parley/protocol';

/** Stand in the examples for what the hub gives out; whoever runs them puts the real ones there. */
export const EXAMPLE_IDS = {
  thread_id: 'thr_01JZ8Q6V9Y0000000000000000',
  message_id: 'msg_01JZ8Q6V9Y0000000000100000',
  ask_id: 'ask_01JZ8Q6V9Y0000000000000000',
} as const;

const { thread_id, message_id, ask_id } = EXAMPLE_IDS;
const document_id = '5b0c8a52-9f6e-4a55-b7a2-1d1f0c7b8a03';

/** A typical input of the operations that integrators begin with, in the order in which they can be run. */
export const EXAMPLES: { readonly [N in OperationName]?: InputOf<N> } = {
  whoami: {},
  create_thread: { title: 'Mapper review', participants: ['alice', 'bob'], idempotency_key: 'review-17' },
  post_message: {
    thread_id,
    schema_version: 1,
    body: 'The mapper is ready. Please review it.',
    to: 'bob',
    idempotency_key: 'review-17-ready',
  },
  read_messages: { thread_id, since_seq: 0 },
  wait_for_messages: { thread_id, since_seq: 0, timeout_ms: 1_000 },
  ack_read: { thread_id, last_read_seq: 1 },
  get_message: { thread_id, message_id },
  get_thread: { thread_id },
  list_threads: { limit: 20 },
  search_messages: { query: 'mapper' },
  summarize_thread: { thread_id },
  heartbeat_session: { runtime: 'my-agent', status: 'active' },
  register_agent: { name: 'Reviewer', capabilities: ['review'] },
  update_agent_status: { status: 'busy', metadata: { currentTask: 'the mapper' } },
  raise_ask: { kind: 'approval', prompt: 'May I push?', command: 'git push origin main' },
  get_ask: { ask_id },
  ask_human: {
    prompt: 'Which branch?',
    options: [
      { id: 'main', label: 'main' },
      { id: 'next', label: 'next' },
    ],
    timeout_ms: 0,
    idempotency_key: 'branch-17',
  },
  withdraw_ask: { ask_id },
  create_document: {
    document_id,
    parent_id: 'root',
    content: { mime_type: 'text/markdown', body: '# Mapper\n\nA user without a nickname becomes null.' },
    metadata: { title: 'Mapper' },
  },
  get_document: { document_id },
  query_knowledge: { query: 'What becomes of a user without a nickname?' },
  update_thread_status: { thread_id, status: 'resolved', reason: 'all is done' },
};
