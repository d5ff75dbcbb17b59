import {
  JOB_BOUNDS_MS,
  LATENCY_BOUNDS_MS,
  type Profile,
  type QueueObserver,
  type SloWindow,
} from '@parley/core';
import { SLO_TARGETS } from '@parley/protocol';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import { createSeriesBound } from './series-bound.ts';

/** What an envelope was about, as far as it is known; nothing that its sender wrote without proof. */
export interface EnvelopeLabels {
  action: string;
  tenant: string;
  principal: string;
}

/** Hears how every envelope fared, and what became of those that were queued. */
export interface EnvelopeMeter {
  /** An envelope was answered, well or with an error code. */
  answered(labels: EnvelopeLabels, profile: Profile, ms: number, code: string | undefined): void;
  /** Something happened to a queued envelope. */
  queued: QueueObserver;
}

const LABELS = ['action', 'tenant', 'principal', 'status', 'error_code'] as const;

/** The four metrics of the contract; Prometheus knows no dot in a label, so error.code is error_code. */
export function createEnvelopeMeter(
  registers: Registry[],
  slo: Pick<SloWindow, 'answered' | 'deadLetter' | 'retry' | 'job'>,
  maxSeries: number,
): EnvelopeMeter {
  const common = { labelNames: LABELS, registers };
  const requests = new Counter({
    name: 'a2a_requests_total',
    help: 'Envelopes that were answered; status is SUCCESS or ERROR.',
    ...common,
  });
  const latency = new Histogram({
    name: 'a2a_latency_ms',
    help: 'Milliseconds from an envelope to its answer.',
    buckets: [...LATENCY_BOUNDS_MS],
    ...common,
  });
  const deadLetters = new Counter({
    name: 'a2a_dlq_total',
    help: 'Queued envelopes that were given up.',
    ...common,
  });
  const retries = new Counter({
    name: 'a2a_retries_total',
    help: 'Further tries of queued envelopes.',
    ...common,
  });
  const acks = new Histogram({
    name: 'parley_ack_ms',
    help: 'Milliseconds from an envelope to its answer, by profile: internal, or external with a JWS.',
    labelNames: ['profile'],
    buckets: [...LATENCY_BOUNDS_MS],
    registers,
  });
  const jobs = new Histogram({
    name: 'parley_job_past_eta_ms',
    help: 'How long after their eta deliveries came to their end; 0 and less is in time.',
    labelNames: ['action'],
    buckets: [...JOB_BOUNDS_MS],
    registers,
  });
  const targets = new Gauge({
    name: 'parley_slo_target',
    help: 'What is promised, by objective; the alerts hold the same numbers.',
    labelNames: ['objective'],
    registers,
  });
  for (const [objective, target] of Object.entries(SLO_TARGETS)) targets.set({ objective }, target);
  const bound = createSeriesBound(maxSeries);
  // A rate of nothing is 0, and not missing.
  const none = { action: UNKNOWN, tenant: UNKNOWN, principal: UNKNOWN, status: 'ERROR', error_code: '' };
  for (const counter of [deadLetters, retries]) counter.inc(none, 0);
  for (const profile of ['internal', 'external']) acks.zero({ profile });
  jobs.zero({ action: UNKNOWN });
  const failed = (labels: EnvelopeLabels, error_code: string) =>
    bound({ ...labels, status: 'ERROR', error_code });
  return {
    answered(labels, profile, ms, code) {
      const series =
        code === undefined ? bound({ ...labels, status: 'SUCCESS', error_code: '' }) : failed(labels, code);
      requests.inc(series);
      latency.observe(series, ms);
      acks.observe({ profile }, ms);
      if (labels.tenant !== UNKNOWN) slo.answered(labels.tenant, profile, ms, code);
    },
    queued({ kind, action, workspace_id: tenant, agent_id: principal, code = 'INTERNAL', pastEtaMs }) {
      if ((kind === 'delivered' || kind === 'dead') && pastEtaMs !== undefined) {
        jobs.observe({ action }, Math.max(0, pastEtaMs));
        slo.job(tenant, pastEtaMs);
      }
      if (kind !== 'dead' && kind !== 'retried') return;
      const series = failed({ action, tenant, principal }, code);
      if (kind === 'dead') {
        deadLetters.inc(series);
        slo.deadLetter(tenant);
      } else {
        retries.inc(series);
        slo.retry(tenant);
      }
    },
  };
}

/** What stands in a label as long as nobody has proved anything better; no name begins like that. */
export const UNKNOWN = '_unknown';
