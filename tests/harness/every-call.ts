import { randomUUID } from 'node:crypto';

import type { ErrorCode, OperationName } from '@parley/protocol';

/** The id of a document that nobody made. */
const NOWHERE = '00000000-0000-4000-8000-000000000000';

/** A good input for every operation, so that a case can be tried on all of them. */
export function everyCall(
  thread_id: string,
  message_id: string,
): Record<OperationName, Record<string, unknown>> {
  return {
    whoami: {},
    create_thread: { title: 'one more' },
    get_thread: { thread_id },
    list_threads: {},
    post_message: { thread_id, schema_version: 1, body: 'one more' },
    read_messages: { thread_id },
    wait_for_messages: { thread_id, timeout_ms: 0 },
    ack_read: { thread_id, last_read_seq: 1 },
    get_message: { thread_id, message_id },
    search_messages: { query: 'one' },
    update_thread_status: { thread_id, status: 'blocked', reason: 'waiting' },
    summarize_thread: { thread_id },
    heartbeat_session: { runtime: 'codex_cli' },
    list_sessions: {},
    trigger_participant: { thread_id, target_agent_id: 'bob' },
    check_reach: { of_agent: 'bob' },
    set_quiet: { for_ms: 60_000 },
    list_quiet: {},
    wait_for_wake: { native_session_id: NOWHERE, timeout_ms: 0 },
    get_message_evidence: { thread_id, message_id },
    rename_thread: { thread_id, title: 'another name' },
    control_thread: { thread_id, control: { prod: ['bob'] } },
    should_respond: { thread_id, message_id },
    set_presence: { thread_id, state: 'listening' },
    list_presence: { thread_id },
    assign_task: { thread_id, to: 'bob', body: 'look at it' },
    report_result: { thread_id, task: message_id, body: 'looked' },
    open_side_channel: { thread_id, title: 'aside', purpose: 'detail' },
    close_side_channel: { thread_id, summary: 'nothing' },
    register_agent: { name: 'one more' },
    update_agent_status: { status: 'online' },
    report_event: { event_type: 'info', data: { message: 'hello' } },
    list_agents: {},
    list_agent_states: {},
    get_agent: { of_agent: 'nobody' },
    command_agent: { of_agent: 'bob', command: 'ping' },
    forget_agent: { of_agent: 'nobody' },
    dismiss_error: { of_agent: 'nobody', failed_at: '2030-01-01T00:00:00.000Z' },
    raise_ask: { prompt: 'may I?' },
    ask_human: { prompt: 'may I?', timeout_ms: 0 },
    wait_for_ask: { ask_id: 'ask_0', timeout_ms: 0 },
    get_ask: { ask_id: 'ask_0' },
    list_asks: {},
    answer_ask: { ask_id: 'ask_0', decision: 'approved' },
    withdraw_ask: { ask_id: 'ask_0' },
    create_document: {
      document_id: randomUUID(),
      parent_id: 'root',
      content: { mime_type: 'text/markdown', body: '# One more' },
      metadata: { title: 'one more' },
    },
    promote_thread: { thread_id },
    update_document: {
      document_id: NOWHERE,
      patch: { metadata: { title: 'another name' } },
      update_mask: ['metadata.title'],
    },
    delete_document: { document_id: NOWHERE },
    restore_document: { document_id: NOWHERE },
    move_document: { document_id: NOWHERE, new_parent_id: 'root' },
    get_document: { document_id: NOWHERE },
    list_documents: {},
    import_documents: {
      documents: [
        {
          document_id: randomUUID(),
          parent_id: 'root',
          content: { mime_type: 'text/markdown', body: '# One more' },
          metadata: { title: 'one more' },
        },
      ],
    },
    export_documents: {},
    get_document_history: { document_id: NOWHERE },
    revert_document: { document_id: NOWHERE, revision: 1 },
    get_document_links: { document_id: NOWHERE },
    query_knowledge: { query: 'where is it written?' },
    put_artifact: { name: 'note.txt', mime_type: 'text/plain', content: 'one more' },
    get_artifact: { artifact_id: 'art_0' },
    list_artifacts: {},
    sign_artifact_url: { artifact_id: 'art_0' },
    report_health: { status: 'healthy' },
    list_services: {},
    list_deliveries: {},
    get_delivery: { delivery_id: 'dlv_0' },
    redrive_deliveries: { delivery_ids: ['dlv_0'] },
    list_devices: {},
    pair_device: {},
    revoke_device: { device_id: 'nobody-0' },
    list_approval_rules: {},
    add_approval_rule: { of_agent: 'bob', command: 'npm test' },
    revoke_approval_rule: { approval_rule_id: 'rule-0' },
    list_channels: {},
    add_channel: { name: 'a hook', kind: 'webhook', target: { url: 'https://hooks.example/x' } },
    update_channel: { channel_id: 'webhook-0', paused: true },
    remove_channel: { channel_id: 'webhook-0' },
    test_channel: { channel_id: 'webhook-0' },
    preview_threads: { thread_ids: [thread_id] },
    read_log: {},
    describe_hub: {},
    get_slo: {},
  };
}

/** What a worker is told where those inputs, good as they are, name what is not there or not theirs to do. */
export const REFUSED: Partial<Record<OperationName, ErrorCode>> = {
  trigger_participant: 'WAKE_FAILED',
  set_quiet: 'INSUFFICIENT_AUTHORITY',
  report_result: 'NOT_FOUND',
  close_side_channel: 'CONFLICT',
  get_agent: 'NOT_FOUND',
  command_agent: 'INSUFFICIENT_AUTHORITY',
  forget_agent: 'INSUFFICIENT_AUTHORITY',
  dismiss_error: 'INSUFFICIENT_AUTHORITY',
  check_reach: 'INSUFFICIENT_AUTHORITY',
  wait_for_ask: 'NOT_FOUND',
  get_ask: 'NOT_FOUND',
  answer_ask: 'NOT_FOUND',
  withdraw_ask: 'NOT_FOUND',
  promote_thread: 'CONFLICT',
  update_document: 'FORBIDDEN',
  delete_document: 'FORBIDDEN',
  restore_document: 'FORBIDDEN',
  move_document: 'FORBIDDEN',
  get_document: 'NOT_FOUND',
  get_document_history: 'NOT_FOUND',
  revert_document: 'FORBIDDEN',
  get_document_links: 'NOT_FOUND',
  get_artifact: 'NOT_FOUND',
  sign_artifact_url: 'NOT_FOUND',
  get_delivery: 'NOT_FOUND',
  redrive_deliveries: 'NOT_FOUND',
  list_devices: 'INSUFFICIENT_AUTHORITY',
  pair_device: 'INSUFFICIENT_AUTHORITY',
  revoke_device: 'INSUFFICIENT_AUTHORITY',
  list_approval_rules: 'INSUFFICIENT_AUTHORITY',
  add_approval_rule: 'INSUFFICIENT_AUTHORITY',
  revoke_approval_rule: 'INSUFFICIENT_AUTHORITY',
  list_channels: 'INSUFFICIENT_AUTHORITY',
  add_channel: 'INSUFFICIENT_AUTHORITY',
  update_channel: 'INSUFFICIENT_AUTHORITY',
  remove_channel: 'INSUFFICIENT_AUTHORITY',
  test_channel: 'INSUFFICIENT_AUTHORITY',
  describe_hub: 'INSUFFICIENT_AUTHORITY',
};

/** The operations that speak of one thread. */
export function callsOnThread(
  thread_id: string,
  message_id: string,
): [OperationName, Record<string, unknown>][] {
  return everyEntry(thread_id, message_id).filter(([, input]) => 'thread_id' in input);
}

/** Every operation with its good input, as pairs. */
export function everyEntry(
  thread_id: string,
  message_id: string,
): [OperationName, Record<string, unknown>][] {
  return Object.entries(everyCall(thread_id, message_id)) as [OperationName, Record<string, unknown>][];
}
