import { entryUlid, messageId } from '@parley/protocol';

import type { Entry } from '../entry.ts';

/** A message of a thread as the tests need it; its id follows from its seq. */
export function sampleMessage(seq: number, by: string, body: string, more: Partial<Entry> = {}): Entry {
  return {
    type: 'message',
    message_id: idAt(seq),
    thread_id: 't1',
    schema_version: 1,
    seq,
    sender_agent_id: by,
    sender_session_id: `${by}-1`,
    kind: 'chat',
    body,
    created_at: new Date(Date.UTC(2030, 0, 1) + seq * 1_000).toISOString(),
    ...more,
  };
}

/** An event message. */
export function sampleEvent(
  seq: number,
  by: string,
  event_type: string,
  metadata: Record<string, unknown> = {},
  more: Partial<Entry> = {},
): Entry {
  return sampleMessage(seq, by, `${event_type} by ${by}`, {
    kind: 'event',
    metadata: { event_type, ...metadata },
    ...more,
  });
}

/** The id of the sample message at a seq. */
export function idAt(seq: number): string {
  return messageId(entryUlid(Date.UTC(2030, 0, 1), seq, 0));
}

/** The entry that a thread begins with. */
export function sampleCreation(): Entry {
  return sampleMessage(0, 'alice', 'Review', {
    type: 'thread.created',
    kind: 'system',
    metadata: { workspace_id: 'w1', title: 'Review', type: 'workflow', participants: ['alice', 'bob'] },
  });
}
