import * as z from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { IdempotencyKey, Timestamp } from './entities.ts';
import { ENVELOPE_ACTION_NAMES, ENVELOPE_CODES } from './envelope-words.ts';
import { LIMITS } from './limits.ts';
import { Name } from './text.ts';

const DeliveryId = z.string().min(1).max(64);
const Status = z.enum(['waiting', 'done', 'dead']);
const Failure = z.object({ code: z.enum(ENVELOPE_CODES), message: z.string() });

/** An envelope that was accepted for later, and what became of it. */
export const QueuedDelivery = z
  .object({
    delivery_id: DeliveryId,
    action: z.enum(ENVELOPE_ACTION_NAMES),
    from: Name,
    status: Status.describe('dead: given up; see error, and redrive_deliveries'),
    idempotency_key: z.string(),
    request_id: z.string().optional().describe('of the envelope'),
    correlation_id: z.string().optional(),
    trace_id: z.string().optional().describe('its traceparent'),
    accepted_at: Timestamp,
    eta: Timestamp.optional().describe('by when it is expected to be done'),
    expires_at: Timestamp.describe('timestamp + ttl_sec of the envelope: nothing is carried out after it'),
    attempts: z.number().int().min(0).describe('since it was accepted or redriven'),
    redrives: z.number().int().min(0),
    next_attempt_at: Timestamp.optional(),
    finished_at: Timestamp.optional(),
    error: Failure.optional().describe('why the last attempt failed'),
    result: z.record(z.string(), z.unknown()).optional().describe('what the action answered'),
  })
  .meta({ id: 'QueuedDelivery' });
export type QueuedDelivery = z.infer<typeof QueuedDelivery>;

const listDeliveries = contract({
  name: 'list_deliveries',
  version: '1.0.0',
  title: 'List deliveries',
  description: 'Envelopes that were accepted for later, the newest first: yours, or all if you steer.',
  input: z.object({
    status: Status.optional(),
    limit: z.number().int().min(1).max(LIMITS.page_max).default(LIMITS.page_default),
    after: z.string().min(1).max(64).optional().describe('next_after of the page before this one'),
  }),
  output: z.object({
    deliveries: z.array(QueuedDelivery).describe('without their results'),
    next_after: z.string().nullable().describe('where the next page begins; null: there is none'),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/deliveries' },
  essential: false,
});

const getDelivery = contract({
  name: 'get_delivery',
  version: '1.0.0',
  title: 'Get a delivery',
  description: 'What became of an envelope that was accepted for later, with what its action answered.',
  input: z.object({ delivery_id: DeliveryId }),
  output: z.object({ delivery: QueuedDelivery }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/deliveries/{delivery_id}' },
  essential: false,
});

const redriveDeliveries = contract({
  name: 'redrive_deliveries',
  version: '1.0.0',
  title: 'Try dead deliveries again',
  description:
    'Gives dead letters another round of attempts. One whose time is up stays dead (EXPIRED); one that is not dead is left alone.',
  input: z.object({
    delivery_ids: z.array(DeliveryId).min(1).max(LIMITS.page_max),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({
    deliveries: z.array(
      z.object({
        delivery_id: DeliveryId,
        status: Status,
        redriven: z.boolean(),
        error: Failure.optional(),
      }),
    ),
  }),
  annotations: WRITES,
  essential: false,
});

/** By name: the table of contracts takes them from here. */
export const queueContracts = {
  list_deliveries: listDeliveries,
  get_delivery: getDelivery,
  redrive_deliveries: redriveDeliveries,
};
