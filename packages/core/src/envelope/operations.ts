import { LIMITS } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';

/** How often a service is to be heard of. */
const HEARTBEAT_MS = 300_000;

export const reportHealth = operation('report_health', {
  authority: 'look',
  async run(deps, caller, { idempotency_key, status, note }, { order }) {
    const head = stamp(deps, caller, 'report_health', idempotency_key);
    const input = note === undefined ? { status } : { status, note };
    const command = { type: 'report_health', ...head, input } as const;
    return (await deps.log.append(order === undefined ? command : { ...command, order })).result as never;
  },
});

export const listServices = operation('list_services', {
  authority: 'look',
  async run(deps, { workspace_id }) {
    const services = await deps.store.records({ kind: 'service', workspace_id, limit: LIMITS.records });
    const now = deps.clock.now();
    return {
      services: services.map((service) => ({
        ...service,
        status: now - Date.parse(service.last_seen_at) > 2 * HEARTBEAT_MS ? 'stale' : service.reported,
      })),
    };
  },
});
