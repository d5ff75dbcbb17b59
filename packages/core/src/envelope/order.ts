import { ParleyError } from '@parley/protocol';

import type { Command, Order, RecordGet } from '../commands.ts';
import type { PutRecord, RecordReader } from '../records.ts';
import { type Ignored, isIgnored } from '../results.ts';

/** What a rule that heeds the order looks up for it. */
export function orderNeeds({ caller, order }: Ordered): RecordGet[] {
  return order === undefined ? [] : [{ kind: 'seq', key: orderKey(caller, order) }];
}

type Ordered = Pick<Command, 'caller'> & { order?: Order };

function orderKey({ agent_id }: Ordered['caller'], { context_id }: Order): string {
  return JSON.stringify([agent_id, context_id]);
}

/** Holds a sender's number against the last it used in that context; only a lower one is ignored. */
export function checkOrder(
  records: RecordReader,
  { caller, order }: Ordered,
): { ignored?: Ignored; note: PutRecord[] } {
  if (order === undefined) return { note: [] };
  const { agent_id: owner, workspace_id } = caller;
  const key = orderKey(caller, order);
  const last_seq = records.get('seq', key)?.seq ?? 0;
  if (order.seq < last_seq) return { ignored: { ignored: true, last_seq }, note: [] };
  if (order.seq === last_seq) return { note: [] };
  return { note: [{ kind: 'seq', workspace_id, key, mark: '', owner, value: { seq: order.seq } }] };
}

/** What was done, for those who cannot go on without it. */
export function requireDone<A extends object>(answer: A | Ignored): A {
  if (!isIgnored(answer)) return answer;
  throw new ParleyError('CONFLICT', `the number ${answer.last_seq} was used before: nothing was done`);
}
