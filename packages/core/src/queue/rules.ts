import { ParleyError, type Trace } from '@parley/protocol';

import { journalEntry } from '../agents/journal.ts';
import type {
  AcceptDelivery,
  Command,
  ForgetDeliveries,
  Loaded,
  Needs,
  RedriveDelivery,
  Rule,
  SettleDelivery,
  ThreadChange,
} from '../commands.ts';
import { checkOrder, orderNeeds } from '../envelope/order.ts';
import { readerOf } from '../knowledge/change.ts';
import type { PutRecord } from '../records.ts';
import { mayOverride } from '../threads/status.ts';
import type { DeliveryRecord } from './delivery-record.ts';

const acceptDelivery: Rule<AcceptDelivery> = {
  needs: (command) => ({ records: true, gets: orderNeeds(command) }),
  decide(loaded, command) {
    const { caller, delivery, now, input, trace, grant } = command;
    const { workspace_id, agent_id: owner } = caller;
    const { ignored, note } = checkOrder(readerOf(loaded), command);
    if (ignored !== undefined) return { changes: [], result: ignored };
    const accepted_at = new Date(now).toISOString();
    const { delivery_id: key, eta, expires_at, idempotency_key } = delivery;
    const body = {
      delivery_id: key,
      caller,
      args: input.args,
      ...(trace === undefined ? {} : { trace }),
      ...(grant === undefined ? {} : { grant }),
    };
    const value: DeliveryRecord = {
      workspace_id,
      delivery_id: key,
      action: input.action,
      from: owner,
      status: 'waiting',
      idempotency_key,
      ...named(trace),
      accepted_at,
      eta,
      expires_at,
      attempts: 0,
      redrives: 0,
    };
    return {
      changes: [],
      records: [
        keep(value),
        { kind: 'delivery_body', workspace_id, key, mark: '', owner, value: body },
        ...note,
      ],
      result: { delivery_id: key, status: 'waiting', accepted_at, eta, expires_at },
    };
  },
};

function needsDelivery({ thread_id, input }: SettleDelivery | RedriveDelivery): Needs {
  return { thread: thread_id, records: true, gets: [{ kind: 'delivery', key: input.delivery_id }] };
}

const settleDelivery: Rule<SettleDelivery> = {
  needs: needsDelivery,
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
      const value: DeliveryRecord = { ...rest, attempts, error, next_attempt_at };
      return { changes: [], records: [keep(value)], result: { settled: true } };
    }
    if (outcome.is === 'done') {
      const value: DeliveryRecord = {
        ...rest,
        attempts,
        status: 'done',
        finished_at,
        result: outcome.result,
      };
      const drops = [{ kind: 'delivery_body', workspace_id, key: known.delivery_id } as const];
      return { changes: [], records: [keep(value)], drops, result: { settled: true } };
    }
    const { error } = outcome;
    const value: DeliveryRecord = { ...rest, attempts, status: 'dead', finished_at, error };
    const change = tell(loaded, command, value, 'delivery.dead', `undeliverable: ${error.message}`);
    return { changes: [change], records: [keep(value)], result: { settled: true } };
  },
};

const redriveDelivery: Rule<RedriveDelivery> = {
  needs: needsDelivery,
  decide(loaded, command) {
    const { input, caller, now, eta } = command;
    const known = readerOf(loaded).get('delivery', input.delivery_id);
    if (known === undefined || (known.from !== caller.agent_id && !mayOverride(caller)))
      throw new ParleyError('NOT_FOUND', `there is no delivery ${input.delivery_id}`);
    const { delivery_id, status, expires_at } = known;
    const answer = { delivery_id, status, redriven: false };
    if (status !== 'dead') return { changes: [], result: answer };
    if (Date.parse(expires_at) < now) {
      const error = { code: 'EXPIRED' as const, message: `it was good until ${expires_at}; send it anew` };
      return { changes: [], result: { ...answer, error } };
    }
    const { error: _error, finished_at: _at, ...rest } = known;
    const redrives = known.redrives + 1;
    const value: DeliveryRecord = { ...rest, status: 'waiting', eta, attempts: 0, redrives };
    const change = tell(loaded, command, value, 'delivery.redriven', `tried again: ${known.action}`);
    const result = { delivery_id, status: 'waiting' as const, redriven: true };
    return { changes: [change], records: [keep(value)], result };
  },
};

const forgetDeliveries: Rule<ForgetDeliveries> = {
  needs: ({ input }) => ({
    records: true,
    gets: input.delivery_ids.map((key) => ({ kind: 'delivery', key })),
  }),
  decide(loaded, { caller, input }) {
    const { workspace_id } = caller;
    const records = readerOf(loaded);
    const old = input.delivery_ids.filter((id) => {
      const known = records.get('delivery', id);
      return known?.finished_at !== undefined && known.finished_at < input.finished_before;
    });
    const drops = old.flatMap((key) => [
      { kind: 'delivery', workspace_id, key } as const,
      { kind: 'delivery_body', workspace_id, key } as const,
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

function keep(value: DeliveryRecord): PutRecord {
  const { workspace_id, delivery_id: key, status: mark, from: owner } = value;
  return { kind: 'delivery', workspace_id, key, mark, owner, value };
}

/** What the sender calls its envelope, as the delivery shows it. */
function named(trace: Trace | undefined) {
  if (trace === undefined) return {};
  const { traceparent: trace_id, request_id, correlation_id } = trace;
  return {
    ...(request_id === undefined ? {} : { request_id }),
    ...(correlation_id === undefined ? {} : { correlation_id }),
    trace_id,
  };
}

/** The same of a delivery, for what is written of it later. */
function traceOf({ trace_id: traceparent, request_id, correlation_id }: DeliveryRecord): Trace | undefined {
  if (traceparent === undefined) return undefined;
  return {
    traceparent,
    ...(request_id === undefined ? {} : { request_id }),
    ...(correlation_id === undefined ? {} : { correlation_id }),
  };
}

/** An entry in the journal of the sender. */
function tell(
  { located }: Loaded,
  command: Pick<Command, 'caller' | 'now' | 'salt'> & { thread_id: string },
  delivery: DeliveryRecord,
  type: 'delivery.dead' | 'delivery.redriven',
  body: string,
): ThreadChange {
  const { delivery_id, action, from, attempts, error } = delivery;
  const trace = traceOf(delivery);
  const facts = { event_type: type, delivery_id, action, attempts };
  const metadata = error === undefined ? facts : { ...facts, error };
  const head = trace === undefined ? command : { ...command, trace };
  return journalEntry(located, from, head, { type, kind: 'event', body, metadata }).change;
}
