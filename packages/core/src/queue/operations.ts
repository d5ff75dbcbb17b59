import { type Caller, type QueuedDelivery, ParleyError } from '@parley/protocol';

import { type Deps, operation } from '../operation.ts';
import { checkIdScope } from '../threads/access.ts';
import { mayOverride } from '../threads/status.ts';
import type { KeptDelivery } from './kept.ts';

export const listDeliveries = operation('list_deliveries', {
  authority: 'look',
  async run(deps, caller, { status, limit, after }) {
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

export const getDelivery = operation('get_delivery', {
  authority: 'look',
  async run(deps, caller, { delivery_id }) {
    return { delivery: toDelivery(await findDelivery(deps, caller, delivery_id)) };
  },
});

export const redriveDeliveries = operation('redrive_deliveries', {
  authority: 'act',
  async run(deps, caller, { delivery_ids, idempotency_key }, { deadline }) {
    const found = await Promise.all(delivery_ids.map((id) => findDelivery(deps, caller, id)));
    const deliveries = [];
    for (const delivery of found)
      deliveries.push(await deps.postOffice.redrive(caller, delivery, { key: idempotency_key, deadline }));
    return { deliveries };
  },
});

/** A delivery of the caller's own; those who steer the workspace find all. */
async function findDelivery(deps: Deps, caller: Caller, id: string): Promise<KeptDelivery> {
  const { workspace_id, agent_id } = caller;
  checkIdScope(id, caller);
  const [kept] = await deps.store.records({ kind: 'delivery', workspace_id, keys: [id], limit: 1 });
  if (kept === undefined || (kept.from !== agent_id && !mayOverride(caller)))
    throw new ParleyError('NOT_FOUND', `there is no delivery ${id.slice(0, 64)}`, { delivery_id: id });
  return kept;
}

function toDelivery({ workspace_id: _workspace, ...delivery }: KeptDelivery): QueuedDelivery {
  return delivery;
}

function withoutResult({ result: _result, ...delivery }: QueuedDelivery): QueuedDelivery {
  return delivery;
}
