import type { Caller, QueuedDelivery, Trace } from '@parley/protocol';

import type { Grant } from '../devices/grant.ts';

/** A delivery as it is kept; its body stands apart, since a retry need not write that again. */
export interface DeliveryRecord extends QueuedDelivery {
  workspace_id: string;
}

/** What is to be carried out, and in whose name. */
export interface DeliveryBody {
  delivery_id: string;
  caller: Caller;
  /** What that name's right rests on; unknown of letters from before it was kept. */
  grant?: Grant;
  args: Record<string, unknown>;
  /** The trace in which it was sent: carrying it out belongs to it. */
  trace?: Trace;
}
