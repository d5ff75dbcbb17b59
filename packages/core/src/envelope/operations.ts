import { operation, stamp } from '../operation.ts';
import type { RecordPorts } from '../ports.ts';
import { readPage } from '../record-pages.ts';

/** How often a service is to be heard of. */
const HEARTBEAT_MS = 300_000;

const reportHealth = operation('report_health', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { idempotency_key, status, note }, { order }) {
    const head = stamp(deps, caller, 'report_health', idempotency_key);
    const input = note === undefined ? { status } : { status, note };
    const command = { type: 'report_health', ...head, input } as const;
    return (await deps.log.append(order === undefined ? command : { ...command, order })).result;
  },
});

const listServices = operation('list_services', {
  authority: 'look',
  async run(deps: RecordPorts, { workspace_id }, page) {
    const query = { kind: 'service', workspace_id } as const;
    const found = await readPage(deps.store, query, page, ({ service_id }) => service_id);
    const now = deps.clock.now();
    return {
      services: found.values.map((service) => ({
        ...service,
        status: now - Date.parse(service.last_seen_at) > 2 * HEARTBEAT_MS ? 'stale' : service.reported,
      })),
      next_after: found.next_after,
    };
  },
});

/** By name: the table of operations takes them from here. */
export const serviceOperations = {
  report_health: reportHealth,
  list_services: listServices,
};
