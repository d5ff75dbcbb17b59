import { LIMITS, ParleyError, seqOfMessageId } from '@parley/protocol';

import { type Entry, toMessage } from '../entry.ts';
import { operation } from '../operation.ts';
import { invokedBy } from '../participation/policy.ts';
import type { Offer } from '../records.ts';
import { admitReader, checkThreadScope } from '../threads/access.ts';
import { resultOf, type Wake } from '../wake/wake.ts';

export const getMessageEvidence = operation('get_message_evidence', {
  authority: 'look',
  async run(deps, caller, { thread_id, message_id }) {
    checkThreadScope(thread_id, caller);
    const { workspace_id } = caller;
    const seq = seqOfMessageId(message_id) ?? 0;
    const query = { workspace_id, thread_id, after: Math.max(0, seq - 1), limit: 1, max_bytes: 1 };
    const { located, entries } = await deps.store.page(query);
    const thread = admitReader(located, caller);
    const entry = entries[0];
    if (entry?.message_id !== message_id)
      throw new ParleyError('NOT_FOUND', 'no such message in this thread');
    const [cursors, replies, offers, wakes] = await Promise.all([
      deps.store.cursors(thread_id),
      deps.store.references(thread_id, message_id),
      deps.offers.of(workspace_id, thread_id),
      deps.store.records({ kind: 'wake', workspace_id, prefix: `${thread_id} `, limit: LIMITS.records }),
    ]);
    const readers = cursors.filter((cursor) => cursor.last_read_seq >= seq);
    const names = new Set(readers.map(({ agent_id }) => agent_id));
    const acts = await Promise.all(
      replies.slice(0, MOST_ACTS).map(async (id) => {
        const after = (seqOfMessageId(id) ?? 1) - 1;
        return (await deps.store.page({ ...query, after })).entries[0];
      }),
    );
    return {
      message: toMessage(entry),
      accepted: { at: entry.created_at, by: entry.sender_agent_id, session: entry.sender_session_id },
      durable: { seq, store: 'fsynced before it was acknowledged' },
      invoked: invokedBy(thread, entry),
      offered: offered(offers, entry),
      woken: wakes.filter((wake) => wake.through_seq >= seq && wake.first_seq <= seq).map(toWoken),
      read: readers.map(({ agent_id, updated_at }) => ({ agent_id, at: updated_at })),
      unread: thread.participants.filter((name) => name !== entry.sender_agent_id && !names.has(name)),
      acted: acts.filter((act) => act !== undefined).map(toAct),
    };
  },
});

/** How many answers to a message are told of. */
const MOST_ACTS = 100;

/** One line per agent and way, for those whom a run that holds this message was handed to. */
function offered(offers: readonly Offer[], { seq, sender_agent_id }: Entry) {
  return offers
    .filter((offer) => offer.first <= seq && offer.seq >= seq && offer.agent_id !== sender_agent_id)
    .map(({ agent_id, how, at }) => ({ agent_id, how, by: at }));
}

function toWoken(wake: Wake) {
  const { trigger_id, target_agent_id, by, door, proof, passed, skip, code, defer_reason } = wake;
  const why = skip ?? code ?? (wake.state === 'deferred' ? defer_reason : undefined);
  return {
    trigger_id,
    agent_id: target_agent_id,
    by,
    result: resultOf(wake),
    ...(door === undefined ? {} : { door }),
    ...(proof === undefined ? {} : { proof }),
    ...(why === undefined ? {} : { why }),
    passed,
    at: wake.settled_at ?? wake.asked_at,
  };
}

function toAct({ message_id, seq, sender_agent_id, created_at, kind, metadata }: Entry) {
  const { event_type, commit } = metadata ?? {};
  return {
    message_id,
    seq,
    agent_id: sender_agent_id,
    what: kind === 'event' && typeof event_type === 'string' ? event_type : 'reply',
    ...(typeof commit === 'string' ? { commit } : {}),
    at: created_at,
  };
}
