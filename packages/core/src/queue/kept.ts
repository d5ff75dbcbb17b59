import type { Caller, QueuedDelivery } from '@parley/protocol';

/** A delivery as it is kept; its letter stands apart, since a retry need not write that again. */
export interface KeptDelivery extends QueuedDelivery {
  workspace_id: string;
}

/** What is to be carried out, and in whose name. */
export interface Letter {
  delivery_id: string;
  caller: Caller;
  args: Record<string, unknown>;
}
