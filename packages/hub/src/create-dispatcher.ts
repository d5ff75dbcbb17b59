import {
  createFairDispatcher,
  createStreamDispatcher,
  type Dispatcher,
  type DueDelivery,
  type OwnedJob,
} from '@parley/core';

import type { Config } from './config/schema.ts';
import type { OpenNodes } from './nodes/open-nodes.ts';

/** Brings due deliveries to the node whose job they are; `toOwner` tells it of one that another has accepted. */
export function createDispatcher(
  { queue }: Pick<Config, 'queue'>,
  job: Pick<OwnedJob, 'isOwned'>,
  nodes: OpenNodes | undefined,
): Dispatcher & { toOwner: (due: DueDelivery) => void } {
  const lines = createFairDispatcher({ perWorkspace: queue.tenant_concurrent, atOnce: queue.concurrent });
  const tell = (due: DueDelivery): void => nodes?.bus.publish('delivery', due);
  const stream = nodes?.dueStream;
  if (stream === undefined) return { ...lines, toOwner: tell };
  // The stream is not there: what others accept the owner hears by the bus, or finds in the record.
  const dispatcher = createStreamDispatcher(stream, lines, (due) =>
    job.isOwned ? dispatcher.resume(due, 0) : tell(due),
  );
  return { ...dispatcher, toOwner: (due) => dispatcher.put(due, 0) };
}
