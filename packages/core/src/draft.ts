import { entryUlid, messageId, ParleyError, type Role } from '@parley/protocol';

import type { Command, ThreadChange } from './commands.ts';
import type { Entry } from './entry.ts';
import { evolve, type ThreadState } from './threads/state.ts';

/** What a rule says of a new entry; the rest follows from the command and the thread. */
export type Draft = Pick<Entry, 'type' | 'kind' | 'body'> & {
  [F in 'metadata' | 'in_reply_to' | 'idempotency_key' | 'schema_version' | 'to']?: Entry[F] | undefined;
};

/** The next entry of a thread: gapless seq, a time that never falls within the thread, an id made of both. */
export function draft(
  state: ThreadState | undefined,
  thread_id: string,
  command: Pick<Command, 'caller' | 'now' | 'salt' | 'trace'>,
  content: Draft,
): Entry {
  const seq = state === undefined ? 0 : state.last_seq + 1;
  if (!Number.isSafeInteger(seq)) throw new ParleyError('CONFLICT', 'the thread is full; start a new one');
  let at = command.now;
  let created_at = new Date(at).toISOString();
  if (state !== undefined && created_at < state.updated_at) {
    at = Date.parse(state.updated_at);
    created_at = state.updated_at;
  }
  const { schema_version = 1, kind, body, to, in_reply_to, idempotency_key } = content;
  // Who follows the thread can go on with the trace; what the sender itself wrote there stays.
  const metadata = command.trace === undefined ? content.metadata : { ...command.trace, ...content.metadata };
  // Field by field, in the order of the stored text: spreading many small objects is slow, and this is for every post.
  const entry: Partial<Entry> = {
    message_id: messageId(entryUlid(at, seq, command.salt)),
    thread_id,
    schema_version,
    seq,
    type: content.type,
    sender_agent_id: command.caller.agent_id,
    sender_session_id: command.caller.session_id,
  };
  if (command.caller.role === 'operator') entry.human = true;
  if (to !== undefined) entry.to = to;
  entry.kind = kind;
  entry.body = body;
  if (metadata !== undefined) entry.metadata = metadata;
  if (in_reply_to !== undefined) entry.in_reply_to = in_reply_to;
  if (idempotency_key !== undefined) entry.idempotency_key = idempotency_key;
  entry.created_at = created_at;
  // Every field that an entry must have was set above.
  return entry as Entry;
}

/** One more entry on a thread, and the state that follows from it. */
export function append(
  state: ThreadState,
  command: Pick<Command, 'caller' | 'now' | 'salt' | 'trace'>,
  content: Draft,
): { entry: Entry; change: ThreadChange } {
  const entry = draft(state, state.thread_id, command, content);
  return { entry, change: { entries: [entry], thread: evolve(state, entry) } };
}

/** Observers look and never change. */
export function refuseObserver(role: Role, what: string): void {
  if (role === 'observer') throw new ParleyError('FORBIDDEN', `an observer may not ${what} a thread`);
}

/** The refusal of one field by the rules. */
export function invalid(field: string, message: string): ParleyError {
  return new ParleyError('VALIDATION_ERROR', message, { field });
}
