import { createDeliveryQueue, createOwnedJob, type Hub } from '@parley/core';

import type { Config } from './config/schema.ts';
import { createDispatcher } from './create-dispatcher.ts';
import { queueSettings } from './part-settings.ts';
import type { openAuth } from './start-auth.ts';
import type { openMetrics } from './start-metrics.ts';
import type { OpenRecord } from './start-record.ts';

/** Builds the queue of envelopes that are carried out later, by the node whose job it is. */
export function openQueue(
  config: Config,
  record: OpenRecord,
  { authority }: Pick<ReturnType<typeof openAuth>, 'authority'>,
  { envelopes }: Pick<ReturnType<typeof openMetrics>, 'envelopes'>,
  onFault: (error: unknown) => void,
) {
  const { leases, nodes } = record;
  const job = createOwnedJob({ leases, onFault }, 'queue');
  const dispatcher = createDispatcher(config, job, nodes);
  const deliveryQueue = createDeliveryQueue({
    ...record,
    job,
    ...(nodes && { onForeign: dispatcher.toOwner }),
    authority,
    dispatcher,
    settings: queueSettings(config),
    // Whoever counts what becomes of deliveries attaches here.
    observe: envelopes.queued,
    onFault,
  });
  return {
    deliveryQueue,
    start: (hub: Hub): Promise<void> =>
      job.start(async () => {
        await deliveryQueue.start(hub);
        // Whoever has the job next is brought what is due.
        return () => nodes?.dueStream?.stop();
      }),
    async close(): Promise<void> {
      await deliveryQueue.close();
      await job.close();
    },
  };
}
