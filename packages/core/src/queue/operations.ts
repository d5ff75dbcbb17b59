import { type Caller, type QueuedDelivery, ParleyError } from '@parley/protocol';

import { operation } from '../operation.ts';
import type { QueuePorts, RecordPorts } from '../ports.ts';
import { checkIdScope } from '../threads/access.ts';
import { mayOverride } from '../threads/status.ts';
import type { DeliveryRecord } from './delivery-record.ts';

const listDeliveries = operation('list_deliveries', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { status, limit, after }) {
    const { workspace_id } = caller;
    const found = await deps.store.records({
      kind: 'delivery',
      workspace_id,
      descending: true,
      limit: limit + 1,
      ...(status === undefined ? {} : { marks: [status] }),
      ...(mayOverride(caller) ? {} : { owner: caller.agent_id }),
      ...(after === undefined ? {} : { past: after }),
    });
    const shown = found.slice(0, limit);
    return {
      deliveries: shown.map((kept) => withoutResult(toDelivery(kept))),
      next_after: found.length > limit ? (shown.at(-1)?.delivery_id ?? null) : null,
    };
  },
});

const getDelivery = operation('get_delivery', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { delivery_id }) {
    return { delivery: toDelivery(await findDelivery(deps, caller, delivery_id)) };
  },
});

const redriveDeliveries = operation('redrive_deliveries', {
  authority: 'act',
  async run(deps: RecordPorts & QueuePorts, caller, { delivery_ids, idempotency_key }, { deadline }) {
    const found = await Promise.all(delivery_ids.map((id) => findDelivery(deps, caller, id)));
    // Begun together, in their order: one commit is for many.
    const deliveries = await Promise.all(
      found.map((one) => deps.deliveryQueue.redrive(caller, one, { key: idempotency_key, deadline })),
    );
    return { deliveries };
  },
});

/** A delivery of the caller's own; those who steer the workspace find all. */
async function findDelivery(deps: RecordPorts, caller: Caller, id: string): Promise<DeliveryRecord> {
  const { workspace_id, agent_id } = caller;
  checkIdScope(id, caller);
  const [kept] = await deps.store.records({ kind: 'delivery', workspace_id, keys: [id], limit: 1 });
  if (kept === undefined || (kept.from !== agent_id && !mayOverride(caller)))
    throw new ParleyError('NOT_FOUND', `there is no delivery ${id.slice(0, 64)}`, { delivery_id: id });
  return kept;
}

function toDelivery({ workspace_id: _workspace, ...delivery }: DeliveryRecord): QueuedDelivery {
  return delivery;
}

function withoutResult({ result: _result, ...delivery }: QueuedDelivery): QueuedDelivery {
  return delivery;
}

/** By name: the table of operations takes them from here. */
export const queueOperations = {
  list_deliveries: listDeliveries,
  get_delivery: getDelivery,
  redrive_deliveries: redriveDeliveries,
};
