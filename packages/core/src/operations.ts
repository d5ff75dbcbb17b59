import type { OperationName } from '@parley/protocol';

import {
  ackRead,
  getMessage,
  postMessage,
  readMessages,
  searchMessages,
  waitForMessages,
} from './messages/operations.ts';
import type { Operation } from './operation.ts';
import { heartbeatSession, listSessions, triggerParticipant } from './sessions/operations.ts';
import {
  createThread,
  getThread,
  listThreads,
  summarizeThread,
  updateThreadStatus,
} from './threads/operations.ts';

/** The table of operations: what each contract does. */
export const OPERATIONS: { [N in OperationName]: Operation<N> } = {
  create_thread: createThread,
  get_thread: getThread,
  list_threads: listThreads,
  post_message: postMessage,
  read_messages: readMessages,
  wait_for_messages: waitForMessages,
  ack_read: ackRead,
  get_message: getMessage,
  search_messages: searchMessages,
  update_thread_status: updateThreadStatus,
  summarize_thread: summarizeThread,
  heartbeat_session: heartbeatSession,
  list_sessions: listSessions,
  trigger_participant: triggerParticipant,
};
