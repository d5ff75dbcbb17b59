import * as z from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { HEALTH } from './document-words.ts';
import { IdempotencyKey, Timestamp } from './entities.ts';
import { LIMITS } from './limits.ts';
import { After, Limit, NextAfter } from './pages.ts';
import { Name, storableText } from './text.ts';

/** A service of the registry as callers see it. */
const Service = z
  .object({
    service_id: Name,
    status: z.enum([...HEALTH, 'stale']).describe('stale: not heard of for more than two heartbeats'),
    reported: z.enum(HEALTH),
    note: z.string().optional(),
    since: Timestamp.describe('since when it reports this'),
    last_seen_at: Timestamp,
    revision: z.number().int().min(1).describe('rises with every heartbeat'),
  })
  .meta({ id: 'Service' });

const reportHealth = contract({
  name: 'report_health',
  version: '1.0.0',
  title: 'Report your health',
  description: 'A service’s heartbeat, every five minutes: healthy or degraded.',
  input: z.object({
    status: z.enum(HEALTH),
    note: storableText({ maxBytes: LIMITS.reason_bytes }).optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ last_seen_at: Timestamp, revision: z.number().int().min(1) }),
  annotations: WRITES,
  essential: false,
});

const listServices = contract({
  name: 'list_services',
  version: '1.0.0',
  title: 'List services',
  description: 'The registry: every service that has sent a heartbeat, and how it is.',
  input: z.object({ limit: Limit, after: After }),
  output: z.object({ services: z.array(Service), next_after: NextAfter }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/services' },
  essential: false,
});

/** By name: the table of contracts takes them from here. */
export const registryContracts = {
  report_health: reportHealth,
  list_services: listServices,
};
