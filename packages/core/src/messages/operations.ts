import {
  type Caller,
  LIMITS,
  type Message,
  ParleyError,
  type OutputOf,
  seqOfMessageId,
} from '@parley/protocol';

import { type Entry, toMessage } from '../entry.ts';
import { type Deps, operation, stamp } from '../operation.ts';
import type { Page } from '../store.ts';
import { admitReader, checkThreadScope } from '../threads/access.ts';
import { findThread } from '../threads/find-thread.ts';
import { mayOverride } from '../threads/status.ts';
import { checkEvent } from './check-event.ts';
import { findByMeaning, NOTHING } from './message-search.ts';

export const postMessage = operation('post_message', {
  authority: 'act',
  async run(deps, caller, input, { event_id, trace }) {
    const { thread_id, ...content } = input;
    checkThreadScope(thread_id, caller);
    checkEvent(content.kind, content.metadata);
    const head = stamp(deps, caller, thread_id, content.idempotency_key, event_id, trace);
    const { result } = await deps.log.append({
      type: 'post_message',
      ...head,
      thread_id,
      input: content as never,
    });
    return result as never;
  },
});

export const readMessages = operation('read_messages', {
  authority: 'look',
  async run(deps, caller, { thread_id, since_seq, limit }) {
    checkThreadScope(thread_id, caller);
    const page = await deps.log.read(pageQuery(caller.workspace_id, thread_id, since_seq, limit));
    admitReader(page.located, caller);
    offer(deps, caller, page, 'read');
    return toPage(page, since_seq);
  },
});

export const waitForMessages = operation('wait_for_messages', {
  authority: 'look',
  async run(deps, caller, { thread_id, since_seq, limit, timeout_ms }, context) {
    checkThreadScope(thread_id, caller);
    const query = pageQuery(caller.workspace_id, thread_id, since_seq, limit);
    const patience = AbortSignal.any([AbortSignal.timeout(timeout_ms), context.signal]);
    const ticker = setInterval(
      () => context.progress?.(`waiting for messages after ${since_seq}`),
      PROGRESS_MS,
    );
    try {
      for await (const entries of deps.log.follow(caller, thread_id, since_seq, patience)) {
        if (entries.length > 0) break;
      }
    } finally {
      clearInterval(ticker);
    }
    const page = await deps.log.read(query);
    admitReader(page.located, caller);
    // Who has gone was given nothing.
    if (!context.signal.aborted) offer(deps, caller, page, 'wait');
    return { ...toPage(page, since_seq), timed_out: page.entries.length === 0 };
  },
});

/** How often a waiting call shows that it lives: well inside the minute after which clients give up. */
const PROGRESS_MS = 10_000;

export const ackRead = operation('ack_read', {
  authority: 'look',
  async run(deps, caller, input) {
    const { thread_id, idempotency_key, ...content } = input;
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `ack_read:${thread_id}`, idempotency_key);
    const { result } = await deps.log.append({ type: 'ack_read', ...head, thread_id, input: content });
    return result as never;
  },
});

export const getMessage = operation('get_message', {
  authority: 'look',
  async run(deps, caller, { thread_id, message_id }) {
    checkThreadScope(thread_id, caller);
    const seq = seqOfMessageId(message_id) ?? 0;
    const page = await deps.log.read(pageQuery(caller.workspace_id, thread_id, Math.max(0, seq - 1), 1));
    const thread = admitReader(page.located, caller);
    const entry = page.entries[0];
    if (entry?.message_id !== message_id)
      throw new ParleyError('NOT_FOUND', 'no such message in this thread');
    return { message: toMessage(entry), ...(await receipts(deps, thread.participants, entry)) };
  },
});

export const searchMessages = operation('search_messages', {
  authority: 'look',
  async run(deps, caller, input) {
    const { query, thread_id, mode } = input;
    const limit = Math.min(input.limit, LIMITS.page_default);
    if (thread_id !== undefined) await findThread(deps, caller, thread_id);
    const [near, words] = await Promise.all([
      mode === 'hybrid' ? findByMeaning(deps, caller, input) : NOTHING,
      deps.store.search({
        workspace_id: caller.workspace_id,
        participant: mayOverride(caller) ? undefined : caller.agent_id,
        thread_id,
        text: query,
        limit,
      }),
    ]);
    const hits = [...near.hits];
    const missing = [...new Set([...near.missing, ...words.lacks])];
    const found = new Set(hits.map(({ message }) => message.message_id));
    // What has all the words is never left out, be it older than what the index of meanings knows.
    for (const { entry, snippet } of words.hits)
      if (!found.has(entry.message_id)) hits.push({ message: toMessage(entry), snippet });
    const complete = !missing.some((word) => word === 'changes' || word === 'older_matches');
    return { hits: hits.slice(0, limit), complete, missing };
  },
});

function offer(deps: Deps, caller: Caller, { entries }: Page, how: string): void {
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

async function receipts(deps: Deps, participants: readonly string[], entry: Entry) {
  const [cursors, referenced_by] = await Promise.all([
    deps.store.cursors(entry.thread_id),
    deps.store.references(entry.thread_id, entry.message_id),
  ]);
  const readers = cursors.filter((cursor) => cursor.last_read_seq >= entry.seq);
  const names = new Set(readers.map((cursor) => cursor.agent_id));
  return {
    read_by: readers.map((cursor) => ({ agent_id: cursor.agent_id, at: cursor.updated_at })),
    unread_by: participants.filter((name) => name !== entry.sender_agent_id && !names.has(name)),
    referenced_by,
  };
}
