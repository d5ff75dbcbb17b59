import { entryUlid, knownEvent, messageId, ParleyError, type Role, seqOfMessageId } from '@parley/protocol';

import type {
  AckRead,
  Command,
  CreateThread,
  Decision,
  Heartbeat,
  Loaded,
  Needs,
  PostMessage,
  UpdateStatus,
} from './commands.ts';
import type { Entry } from './entry.ts';
import { admit } from './threads/access.ts';
import { checkRoom } from './threads/findings.ts';
import { evolve, isDisputed, type ThreadState } from './threads/state.ts';
import { checkTransition, TRANSITIONS } from './threads/status.ts';

/** What must be loaded before a command can be decided. */
export function needs(command: Command): Needs {
  if (command.type === 'create_thread' || command.type === 'heartbeat') return {};
  if (command.type === 'update_status') return { thread: command.thread_id };
  if (command.type === 'ack_read')
    return { thread: command.thread_id, cursor: true, entry_seq: command.input.last_read_seq };
  const { in_reply_to } = command.input;
  const seq = in_reply_to === undefined ? undefined : seqOfMessageId(in_reply_to);
  return seq === undefined ? { thread: command.thread_id } : { thread: command.thread_id, entry_seq: seq };
}

/** The one place where a change is allowed or refused: pure, synchronous, the same in every store. */
export function decide(loaded: Loaded, command: Command): Decision {
  if (command.type === 'post_message') return decidePost(loaded, command);
  if (command.type === 'create_thread') return decideCreate(command);
  if (command.type === 'update_status') return decideStatus(loaded, command);
  if (command.type === 'ack_read') return decideAck(loaded, command);
  return decideHeartbeat(command);
}

function decideCreate(command: CreateThread): Decision {
  const { caller, input } = command;
  const participants = [...new Set([caller.agent_id, ...input.participants])];
  const entry = draft(undefined, command, {
    type: 'thread.created',
    kind: 'system',
    body: input.title,
    metadata: { workspace_id: caller.workspace_id, title: input.title, type: input.type, participants },
  });
  const thread = evolve(undefined, entry);
  return {
    entries: [entry],
    thread,
    result: { thread_id: thread.thread_id, status: thread.status, created_at: thread.created_at },
  };
}

function decidePost(loaded: Loaded, command: PostMessage): Decision {
  const state = admit(loaded.located, command.caller);
  refuseObserver(command.caller.role, 'post to');
  if (state.status === 'closed')
    throw new ParleyError('CONFLICT', 'the thread is closed; reopen it or start a new one');
  const { in_reply_to, ...input } = command.input;
  if (in_reply_to !== undefined && (loaded.entry?.message_id !== in_reply_to || loaded.entry.seq === 0)) {
    throw new ParleyError('NOT_FOUND', 'in_reply_to names no message of this thread', {
      field: 'in_reply_to',
    });
  }
  const event = knownEvent(input.kind, input.metadata);
  checkRoom(state.findings, event);
  const entry = draft(state, command, {
    type: 'message',
    ...input,
    ...(in_reply_to === undefined ? {} : { in_reply_to }),
  });
  const entries = [entry];
  let thread = evolve(state, entry);
  const to = event === 'thread_escalated' ? 'blocked' : event === 'thread_resolved' ? 'resolved' : undefined;
  if (to !== undefined && TRANSITIONS[thread.status][to] === 'anyone') {
    const reason = typeof input.metadata?.['reason'] === 'string' ? input.metadata['reason'] : (event ?? '');
    const change = statusEntry(thread, command, to, reason, entry.message_id);
    entries.push(change);
    thread = evolve(thread, change);
  }
  return {
    entries,
    thread,
    result: {
      message_id: entry.message_id,
      seq: entry.seq,
      thread_status: thread.status,
      created_at: entry.created_at,
    },
  };
}

function decideStatus(loaded: Loaded, command: UpdateStatus): Decision {
  const state = admit(loaded.located, command.caller);
  refuseObserver(command.caller.role, 'change');
  const { status, reason } = command.input;
  checkTransition(state.status, status, isDisputed(state), command.caller);
  const entry = statusEntry(state, command, status, reason);
  const thread = evolve(state, entry);
  return {
    entries: [entry],
    thread,
    result: { thread_id: thread.thread_id, status, updated_at: thread.updated_at },
  };
}

function decideAck(loaded: Loaded, command: AckRead): Decision {
  const state = admit(loaded.located, command.caller);
  const { last_read_seq } = command.input;
  const known = loaded.cursor?.last_read_seq ?? 0;
  if (last_read_seq > state.last_seq) {
    throw invalid('last_read_seq', `last_read_seq is beyond the newest message (${state.last_seq})`);
  }
  if (last_read_seq < known)
    throw invalid('last_read_seq', `last_read_seq is below the cursor (${known}), which never goes back`);
  if (loaded.cursor !== undefined && last_read_seq === known) {
    return { entries: [], result: { ok: true, updated_at: loaded.cursor.updated_at } };
  }
  const updated_at = new Date(command.now).toISOString();
  const last_acked_message_id = last_read_seq === 0 ? null : (loaded.entry?.message_id ?? null);
  const cursor = {
    thread_id: state.thread_id,
    agent_id: command.caller.agent_id,
    last_read_seq,
    last_acked_message_id,
    updated_at,
  };
  return { entries: [], cursor, result: { ok: true, updated_at } };
}

function decideHeartbeat(command: Heartbeat): Decision {
  const { agent_id, workspace_id, session_id } = command.caller;
  const recorded_at = new Date(command.now).toISOString();
  const session = { agent_id, workspace_id, session_id, ...command.input, last_heartbeat_at: recorded_at };
  return { entries: [], session, result: { ok: true, recorded_at } };
}

function statusEntry(
  state: ThreadState,
  command: UpdateStatus | PostMessage,
  to: string,
  reason: string,
  cause?: string,
): Entry {
  return draft(state, command, {
    type: 'thread.status',
    kind: 'system',
    body: `status ${state.status} → ${to}: ${reason}`,
    metadata: {
      event_type: 'thread_status_changed',
      from: state.status,
      to,
      reason,
      role: command.caller.role,
      ...(cause === undefined ? {} : { cause }),
    },
  });
}

type Draft = Pick<Entry, 'type' | 'kind' | 'body'> &
  Partial<Pick<Entry, 'metadata' | 'in_reply_to' | 'idempotency_key' | 'schema_version'>>;

/** The next entry of a thread: gapless seq, a time that never falls within the thread, an id made of both. */
function draft(state: ThreadState | undefined, command: Exclude<Command, Heartbeat>, content: Draft): Entry {
  const seq = state === undefined ? 0 : state.last_seq + 1;
  if (!Number.isSafeInteger(seq)) throw new ParleyError('CONFLICT', 'the thread is full; start a new one');
  const at = state === undefined ? command.now : Math.max(command.now, Date.parse(state.updated_at));
  const { schema_version = 1, kind, body, metadata, in_reply_to, idempotency_key } = content;
  return {
    message_id: messageId(entryUlid(at, seq, command.salt)),
    thread_id: command.thread_id,
    schema_version,
    seq,
    type: content.type,
    sender_agent_id: command.caller.agent_id,
    sender_session_id: command.caller.session_id,
    kind,
    body,
    ...(metadata === undefined ? {} : { metadata }),
    ...(in_reply_to === undefined ? {} : { in_reply_to }),
    ...(idempotency_key === undefined ? {} : { idempotency_key }),
    created_at: new Date(at).toISOString(),
  };
}

function refuseObserver(role: Role, what: string): void {
  if (role === 'observer') throw new ParleyError('FORBIDDEN', `an observer may not ${what} a thread`);
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('VALIDATION_ERROR', message, { field });
}
