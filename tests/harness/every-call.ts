import type { OperationName } from '@parley/protocol';

/** A good input for every operation, so that a case can be tried on all of them. */
export function everyCall(
  thread_id: string,
  message_id: string,
): Record<OperationName, Record<string, unknown>> {
  return {
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
  };
}

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
