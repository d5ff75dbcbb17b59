import {
  type Caller,
  inTime,
  LIMITS,
  type Message,
  ParleyError,
  type OutputOf,
  seqOfMessageId,
} from '@parley/protocol';

import { type Entry, toMessage } from '../entry.ts';
import { operation, stamp } from '../operation.ts';
import type { MessagePorts, RecordPorts } from '../ports.ts';
import type { Page } from '../store.ts';
import { admitReader, checkThreadScope } from '../threads/access.ts';
import { findThread } from '../threads/find-thread.ts';
import { checkEvent } from './check-event.ts';
import { findMessages } from './message-search.ts';
import { waitForAll } from './wait-for-all.ts';

const postMessage = operation('post_message', {
  authority: 'act',
  async run(deps: RecordPorts, caller, input, { event_id, trace }) {
    const { thread_id, ...content } = input;
    checkThreadScope(thread_id, caller);
    checkEvent(content.kind, content.metadata);
    const head = stamp(deps, caller, thread_id, content.idempotency_key, event_id, trace);
    const { result } = await deps.log.append({
      type: 'post_message',
      ...head,
      thread_id,
      input: content,
    });
    return result;
  },
});

const readMessages = operation('read_messages', {
  authority: 'look',
  async run(deps: RecordPorts & MessagePorts, caller, { thread_id, since_seq, limit }) {
    checkThreadScope(thread_id, caller);
    const page = await deps.log.read(pageQuery(caller.workspace_id, thread_id, since_seq, limit));
    admitReader(page.located, caller);
    offer(deps, caller, page, 'read');
    return toPage(page, since_seq);
  },
});

const waitForMessages = operation('wait_for_messages', {
  authority: 'look',
  async run(deps: RecordPorts & MessagePorts, caller, { thread_id, since_seq, limit, timeout_ms }, context) {
    if (thread_id !== undefined) checkThreadScope(thread_id, caller);
    const ticker = setInterval(
      () => context.progress?.(`waiting for messages after ${since_seq}`),
      PROGRESS_MS,
    );
    try {
      if (thread_id === undefined) {
        const most = Math.min(limit, LIMITS.page_max);
        const { entries, next, has_more } = await inTime(timeout_ms, context.signal, (patience) =>
          waitForAll(deps, caller, since_seq, most, patience),
        );
        if (!context.signal.aborted)
          for (const entry of entries) deps.offers.note(caller, entry.thread_id, entry.seq, 'wait');
        return {
          messages: entries.map(toMessage),
          next_seq: next,
          has_more,
          timed_out: entries.length === 0,
        };
      }
      await inTime(timeout_ms, context.signal, async (patience) => {
        for await (const entries of deps.log.follow(caller, thread_id, since_seq, patience))
          if (entries.length > 0) return;
      });
    } finally {
      clearInterval(ticker);
    }
    const page = await deps.log.read(pageQuery(caller.workspace_id, thread_id, since_seq, limit));
    admitReader(page.located, caller);
    // Who has gone was given nothing.
    if (!context.signal.aborted) offer(deps, caller, page, 'wait');
    return { ...toPage(page, since_seq), timed_out: page.entries.length === 0 };
  },
});

/** How often a waiting call shows that it lives: well inside the minute after which clients give up. */
const PROGRESS_MS = 10_000;

const ackRead = operation('ack_read', {
  authority: 'look',
  async run(deps: RecordPorts, caller, input) {
    const { thread_id, idempotency_key, ...content } = input;
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `ack_read:${thread_id}`, idempotency_key);
    const { result } = await deps.log.append({ type: 'ack_read', ...head, thread_id, input: content });
    return result;
  },
});

const getMessage = operation('get_message', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { thread_id, message_id }) {
    checkThreadScope(thread_id, caller);
    const seq = seqOfMessageId(message_id) ?? 0;
    const page = await deps.log.read(pageQuery(caller.workspace_id, thread_id, Math.max(0, seq - 1), 1));
    const thread = admitReader(page.located, caller);
    const entry = page.entries[0];
    if (entry?.message_id !== message_id)
      throw new ParleyError('NOT_FOUND', 'no such message in this thread');
    return {
      message: toMessage(entry),
      ...(await receipts(deps, thread.workspace_id, thread.participants, entry)),
    };
  },
});

const searchMessages = operation('search_messages', {
  authority: 'look',
  async run(deps: RecordPorts & MessagePorts, caller, input) {
    if (input.thread_id !== undefined) await findThread(deps, caller, input.thread_id);
    const { hits, missing } = await findMessages(deps, caller, input);
    const complete = !missing.some((word) => word === 'changes' || word === 'older_matches');
    return { hits: hits.map(({ message, snippet }) => ({ message, snippet })), complete, missing };
  },
});

function offer(deps: MessagePorts, caller: Caller, { entries }: Page, how: string): void {
  const first = entries[0];
  if (first !== undefined)
    deps.offers.note(caller, first.thread_id, first.seq + entries.length - 1, how, first.seq);
}

function pageQuery(workspace_id: string, thread_id: string, after: number, limit: number) {
  return {
    workspace_id,
    thread_id,
    after,
    limit: Math.min(limit, LIMITS.page_max),
    max_bytes: LIMITS.page_bytes,
  };
}

function toPage(page: Page, since: number): OutputOf<'read_messages'> {
  const messages: Message[] = page.entries.map(toMessage);
  return { messages, next_seq: messages.at(-1)?.seq ?? since, has_more: page.has_more };
}

async function receipts(
  deps: RecordPorts,
  workspaceId: string,
  participants: readonly string[],
  entry: Entry,
) {
  const [cursors, referenced_by] = await Promise.all([
    deps.store.cursors(entry.thread_id, workspaceId),
    deps.store.references(entry.thread_id, entry.message_id, workspaceId),
  ]);
  const readers = cursors.filter((cursor) => cursor.last_read_seq >= entry.seq);
  const names = new Set(readers.map((cursor) => cursor.agent_id));
  return {
    read_by: readers.map((cursor) => ({ agent_id: cursor.agent_id, at: cursor.updated_at })),
    unread_by: participants.filter((name) => name !== entry.sender_agent_id && !names.has(name)),
    referenced_by,
  };
}

/** By name: the table of operations takes them from here. */
export const messageOperations = {
  post_message: postMessage,
  read_messages: readMessages,
  wait_for_messages: waitForMessages,
  ack_read: ackRead,
  get_message: getMessage,
  search_messages: searchMessages,
};
