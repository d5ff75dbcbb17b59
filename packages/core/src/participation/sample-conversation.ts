import type { Entry } from '../entry.ts';
import type { ThreadState } from '../threads/state.ts';
import { type Conversation, PLAIN } from './conversation.ts';

const AT = '2030-01-01T00:00:00.000Z';

/** The moment in which all of it happens. */
export const NOW = Date.parse(AT);

/** A thread of these, which ann has made. */
export function thread(
  participants: readonly string[],
  conversation: Partial<Conversation> = {},
): ThreadState {
  return {
    thread_id: 'th_1',
    workspace_id: 'w',
    title: 't',
    type: 'workflow',
    status: 'active',
    participants,
    created_by: 'ann',
    created_at: AT,
    updated_at: AT,
    last_seq: 1,
    findings: [],
    ...(Object.keys(conversation).length === 0 ? {} : { conversation: { ...PLAIN, ...conversation } }),
  };
}

/** A message of an agent named a, to all. */
export const said = (more: Partial<Entry> = {}): Entry => ({
  message_id: 'msg_1',
  thread_id: 'th_1',
  schema_version: 1,
  seq: 1,
  type: 'message',
  sender_agent_id: 'a',
  sender_session_id: 'a-1',
  kind: 'chat',
  body: 'look',
  created_at: AT,
  ...more,
});
