import type { EnvelopeAction, OutputOf } from '@parley/protocol';

import type { Base, InThread } from '../command.ts';
import type { Grant } from '../devices/grant.ts';
import type { Order } from '../envelope/commands.ts';
import type { AcceptedDelivery, Ignored } from '../results.ts';
import type { DeliveryOutcome } from './outcome.ts';

/** An envelope is to be carried out later; the input is what its key binds. */
export type AcceptDelivery = Base<
  'accept_delivery',
  { action: EnvelopeAction; args: Record<string, unknown> },
  AcceptedDelivery | Ignored
> & {
  order?: Order;
  grant?: Grant;
  delivery: { delivery_id: string; eta: string; expires_at: string; idempotency_key: string };
};
/** `thread_id` of what becomes of a delivery is the journal of its sender. */
export type SettleDelivery = InThread<
  'settle_delivery',
  { delivery_id: string; outcome: DeliveryOutcome },
  { settled: boolean }
>;
export type RedriveDelivery = InThread<
  'redrive_delivery',
  { delivery_id: string },
  OutputOf<'redrive_deliveries'>['deliveries'][number]
> & { eta: string };
/** The hub itself forgets deliveries that ended long ago. */
export type ForgetDeliveries = Base<
  'forget_deliveries',
  { delivery_ids: readonly string[]; finished_before: string },
  { forgotten: number }
>;

/** What changes the delivery queue. */
export type QueueCommands = AcceptDelivery | SettleDelivery | RedriveDelivery | ForgetDeliveries;
