import { ParleyError, seqOfMessageId } from '@parley/protocol';

import { type Entry, toMessage } from '../entry.ts';
import { operation } from '../operation.ts';
import type { MessagePorts, RecordPorts, WakePorts } from '../ports.ts';
import { invokedBy, passedOverBy } from '../participation/calls.ts';
import type { Offer } from '../records.ts';
import { admitReader, checkThreadScope } from '../threads/access.ts';
import { SKIP_REASONS } from '../wake/policy.ts';
import { everyWithPrefix } from '../record-pages.ts';
import { resultOf, type Wake, wakeKey } from '../wake/wake.ts';

const getMessageEvidence = operation('get_message_evidence', {
  authority: 'look',
  async run(deps: RecordPorts & MessagePorts & WakePorts, caller, { thread_id, message_id: named }) {
    checkThreadScope(thread_id, caller);
    const { workspace_id } = caller;
    const seq = /^\d{1,15}$/.test(named) ? Number(named) : (seqOfMessageId(named) ?? 0);
    const query = { workspace_id, thread_id, after: Math.max(0, seq - 1), limit: 1, max_bytes: 1 };
    const { located, entries } = await deps.store.page(query);
    const thread = admitReader(located, caller);
    const entry = entries[0];
    if (entry?.seq !== seq || (entry.message_id !== named && String(seq) !== named))
      throw new ParleyError('NOT_FOUND', 'no such message in this thread');
    const { message_id } = entry;
    const [cursors, replies, offers, wakes] = await Promise.all([
      deps.store.cursors(thread_id, workspace_id),
      deps.store.references(thread_id, message_id, workspace_id),
      deps.offers.of(workspace_id, thread_id),
      everyWithPrefix(deps.store, { kind: 'wake', workspace_id, prefix: `${thread_id} ` }, wakeKey),
    ]);
    const readers = cursors.filter((cursor) => cursor.last_read_seq >= seq);
    const names = new Set(readers.map(({ agent_id }) => agent_id));
    const called = invokedBy(thread, entry);
    const given = offered(offers, entry);
    const woken = wakes.filter((wake) => isAbout(wake, entry)).map(toWoken);
    const dealtWith = new Set([...names, ...[...given, ...woken].map(({ agent_id }) => agent_id)]);
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
      invoked: called,
      called,
      not_called: passedOverBy(thread, entry),
      offered: given,
      woken,
      not_woken: await Promise.all(
        called
          .filter((agent) => !dealtWith.has(agent))
          .slice(0, MOST_ACTS)
          .map(async (agent) =>
            notWoken(agent, (await deps.waker.canReach(workspace_id, agent)) !== undefined),
          ),
      ),
      read: readers.map(({ agent_id, updated_at }) => ({ agent_id, at: updated_at })),
      unread: thread.participants.filter((name) => name !== entry.sender_agent_id && !names.has(name)),
      acted: acts.filter((act) => act !== undefined).map(toAct),
    };
  },
});

function notWoken(agent: string, isReachable: boolean) {
  return isReachable
    ? {
        agent,
        why: 'not_yet',
        hint: `no wake of ${agent} is on record yet: it has a moment to notice by itself`,
      }
    : { agent, why: 'no_door', hint: `${SKIP_REASONS.no_door}; it reads the message when it comes` };
}

/** How many answers to a message, or agents that it called in vain, are told of. */
const MOST_ACTS = 100;

/** One line per agent and way, for those whom a run that holds this message was handed to. */
function offered(offers: readonly Offer[], { seq, sender_agent_id }: Entry) {
  return offers
    .filter((offer) => offer.first <= seq && offer.seq >= seq && offer.agent_id !== sender_agent_id)
    .map(({ agent_id, how, at }) => ({ agent_id, how, by: at }));
}

/** A wake is about a run of messages, some of which the woken one may have written itself. */
function isAbout(
  { first_seq, through_seq, target_agent_id }: Wake,
  { seq, sender_agent_id }: Entry,
): boolean {
  return first_seq <= seq && through_seq >= seq && target_agent_id !== sender_agent_id;
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

/** By name: the table of operations takes them from here. */
export const evidenceOperations = {
  get_message_evidence: getMessageEvidence,
};
