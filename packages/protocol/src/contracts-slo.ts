import * as z from 'zod';

import { contract, READS } from './contract.ts';
import { Timestamp } from './entities.ts';

const Share = z.number().min(0);
const Count = z.number().int().min(0);
const Ack = z.object({
  count: Count,
  p95_ms: z.number().nullable().describe('null: there was none'),
  target_ms: z.number(),
  ok: z.boolean(),
});

const getSlo = contract({
  name: 'get_slo',
  version: '1.0.0',
  title: 'Get the service levels',
  description: 'How the envelopes of this workspace fared: error budget, latency, dead letters, jobs.',
  input: z.object({
    hours: z.number().int().min(1).max(168).default(168).describe('how far back'),
    by_hour: z.boolean().default(false).describe('each hour for itself, too'),
  }),
  output: z.object({
    ok: z.boolean().describe('every objective is met'),
    hours: z.number().int(),
    since: Timestamp,
    requests: Count,
    failures: Count,
    error_rate: Share,
    error_budget: z.object({
      target: Share,
      allowed_failures: Count,
      used: Share.describe('1 is all of it'),
      remaining: Share,
      ok: z.boolean(),
    }),
    ack: z.object({ internal: Ack, external: Ack }),
    dead_letters: z
      .object({ count: Count, rate: Share, target: Share, ok: z.boolean() })
      .describe('of the last 24 hours'),
    jobs: z
      .object({
        count: Count,
        p95_past_eta_ms: z.number().nullable().describe('0: in time; null: there was none'),
        target_ms: z.number(),
        ok: z.boolean(),
      })
      .describe('deliveries that came to their end, against the eta they were promised'),
    retries: Count,
    by_code: z.record(z.string(), Count).describe('failures by error code'),
    by_hour: z
      .array(
        z.object({
          since: Timestamp,
          requests: Count,
          failures: Count,
          p95_ms: z.number().nullable().describe('of all answers; null: there was none'),
          dead_letters: Count,
        }),
      )
      .optional()
      .describe('where it was asked for: hours in which something happened, the oldest first'),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/slo' },
  essential: false,
});

/** By name: the table of contracts takes them from here. */
export const sloContracts = {
  get_slo: getSlo,
};
