import type { Command, Order } from '../commands.ts';
import type { PutRecord, RecordReader } from '../records.ts';

/** What is said to one who sends a number lower than it did before. */
interface Ignored extends Record<string, unknown> {
  ignored: true;
  last_seq: number;
}

/** Holds a sender's number against the last it used in that context; only a lower one is ignored. */
export function checkOrder(
  records: RecordReader,
  { caller, order }: Pick<Command, 'caller'> & { order?: Order },
): { ignored?: Ignored; note: PutRecord[] } {
  if (order === undefined) return { note: [] };
  const { agent_id: owner, workspace_id } = caller;
  const key = JSON.stringify([owner, order.context_id]);
  const last_seq = records.get('seq', key)?.seq ?? 0;
  if (order.seq < last_seq) return { ignored: { ignored: true, last_seq }, note: [] };
  if (order.seq === last_seq) return { note: [] };
  return { note: [{ kind: 'seq', workspace_id, key, mark: '', owner, value: { seq: order.seq } }] };
}
