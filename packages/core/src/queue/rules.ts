import { ParleyError } from '@parley/protocol';

import { journalEntry } from '../agents/journal.ts';
import type {
  AcceptDelivery,
  Command,
  ForgetDeliveries,
  Loaded,
  RedriveDelivery,
  Rule,
  SettleDelivery,
  ThreadChange,
} from '../commands.ts';
import { checkOrder } from '../envelope/order.ts';
import { readerOf } from '../knowledge/change.ts';
import type { PutRecord } from '../records.ts';
import { mayOverride } from '../threads/status.ts';
import type { KeptDelivery } from './kept.ts';

const acceptDelivery: Rule<AcceptDelivery> = {
  needs: () => ({ records: true }),
  decide(loaded, command) {
    const { caller, delivery, now, input } = command;
    const { workspace_id, agent_id: owner } = caller;
    const { ignored, note } = checkOrder(readerOf(loaded), command);
    if (ignored !== undefined) return { changes: [], result: ignored };
    const accepted_at = new Date(now).toISOString();
    const { delivery_id: key, expires_at, idempotency_key } = delivery;
    const letter = { delivery_id: key, caller, args: input.args };
    const value: KeptDelivery = {
      workspace_id,
      delivery_id: key,
      action: input.action,
      from: owner,
      status: 'waiting',
      idempotency_key,
      accepted_at,
      expires_at,
      attempts: 0,
      redrives: 0,
    };
    return {
      changes: [],
      records: [keep(value), { kind: 'letter', workspace_id, key, mark: '', owner, value: letter }, ...note],
      result: { delivery_id: key, status: 'waiting', accepted_at, expires_at },
    };
  },
};

const settleDelivery: Rule<SettleDelivery> = {
  needs: ({ thread_id }) => ({ thread: thread_id, records: true }),
  decide(loaded, command) {
    const { input, caller, now } = command;
    const { workspace_id } = caller;
    const known = readerOf(loaded).get('delivery', input.delivery_id);
    if (known === undefined) return { changes: [], result: { settled: false } };
    const { outcome } = input;
    // What was carried out was carried out, however late its worker says so.
    const late = known.status !== 'waiting' && !(outcome.is === 'done' && known.status === 'dead');
    if (late) return { changes: [], result: { settled: false } };
    const { next_attempt_at: _next, error: _error, finished_at: _at, ...rest } = known;
    const attempts = known.attempts + 1;
    const finished_at = new Date(now).toISOString();
    if (outcome.is === 'retry') {
      const { error, next_attempt_at } = outcome;
      const value: KeptDelivery = { ...rest, attempts, error, next_attempt_at };
      return { changes: [], records: [keep(value)], result: { settled: true } };
    }
    if (outcome.is === 'done') {
      const value: KeptDelivery = { ...rest, attempts, status: 'done', finished_at, result: outcome.result };
      const drops = [{ kind: 'letter', workspace_id, key: known.delivery_id } as const];
      return { changes: [], records: [keep(value)], drops, result: { settled: true } };
    }
    const { error } = outcome;
    const value: KeptDelivery = { ...rest, attempts, status: 'dead', finished_at, error };
    const change = tell(loaded, command, value, 'delivery.dead', `undeliverable: ${error.message}`);
    return { changes: [change], records: [keep(value)], result: { settled: true } };
  },
};

const redriveDelivery: Rule<RedriveDelivery> = {
  needs: ({ thread_id }) => ({ thread: thread_id, records: true }),
  decide(loaded, command) {
    const { input, caller, now } = command;
    const known = readerOf(loaded).get('delivery', input.delivery_id);
    if (known === undefined || (known.from !== caller.agent_id && !mayOverride(caller)))
      throw new ParleyError('NOT_FOUND', `there is no delivery ${input.delivery_id}`);
    const { delivery_id, status, expires_at } = known;
    const answer = { delivery_id, status, redriven: false };
    if (status !== 'dead') return { changes: [], result: answer };
    if (Date.parse(expires_at) < now) {
      const error = { code: 'EXPIRED', message: `it was good until ${expires_at}; send it anew` };
      return { changes: [], result: { ...answer, error } };
    }
    const { error: _error, finished_at: _at, ...rest } = known;
    const value: KeptDelivery = { ...rest, status: 'waiting', attempts: 0, redrives: known.redrives + 1 };
    const change = tell(loaded, command, value, 'delivery.redriven', `tried again: ${known.action}`);
    const result = { delivery_id, status: 'waiting', redriven: true };
    return { changes: [change], records: [keep(value)], result };
  },
};

const forgetDeliveries: Rule<ForgetDeliveries> = {
  needs: () => ({ records: true }),
  decide(loaded, { caller, input }) {
    const { workspace_id } = caller;
    const records = readerOf(loaded);
    const old = input.delivery_ids.filter((id) => {
      const known = records.get('delivery', id);
      return known?.finished_at !== undefined && known.finished_at < input.finished_before;
    });
    const drops = old.flatMap((key) => [
      { kind: 'delivery', workspace_id, key } as const,
      { kind: 'letter', workspace_id, key } as const,
    ]);
    return { changes: [], drops, result: { forgotten: old.length } };
  },
};

export const queueRules = {
  accept_delivery: acceptDelivery,
  settle_delivery: settleDelivery,
  redrive_delivery: redriveDelivery,
  forget_deliveries: forgetDeliveries,
};

function keep(value: KeptDelivery): PutRecord {
  const { workspace_id, delivery_id: key, status: mark, from: owner } = value;
  return { kind: 'delivery', workspace_id, key, mark, owner, value };
}

/** An entry in the journal of the sender. */
function tell(
  { located }: Loaded,
  command: Pick<Command, 'caller' | 'now' | 'salt'> & { thread_id: string },
  { delivery_id, action, from, attempts, error }: KeptDelivery,
  type: 'delivery.dead' | 'delivery.redriven',
  body: string,
): ThreadChange {
  const facts = { event_type: type, delivery_id, action, attempts };
  const metadata = error === undefined ? facts : { ...facts, error };
  return journalEntry(located, from, command, { type, kind: 'event', body, metadata }).change;
}
