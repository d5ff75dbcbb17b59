import { SLO_TARGETS } from '@parley/protocol';

import { operation } from '../operation.ts';
import type { AboutPorts } from '../ports.ts';
import { JOB_BOUNDS_MS, quantile } from './slo-window.ts';

const P95 = 0.95;
const DAY_HOURS = 24;

export const getSlo = operation('get_slo', {
  authority: 'look',
  async run({ slo }: AboutPorts, { workspace_id }, { hours, by_hour }) {
    const { tally, since } = slo.last(workspace_id, hours);
    const { requests, failures, retries, codes, latency, jobs: ended } = tally;
    const day = slo.last(workspace_id, DAY_HOURS).tally;
    const error_rate = rate(failures, requests);
    const allowed = requests * SLO_TARGETS.error_rate;
    const used = failures === 0 ? 0 : failures / allowed;
    const error_budget = {
      target: SLO_TARGETS.error_rate,
      allowed_failures: Math.floor(allowed),
      used: rounded(used),
      remaining: rounded(Math.max(0, 1 - used)),
      ok: error_rate <= SLO_TARGETS.error_rate,
    };
    const ack = {
      internal: ackOf(latency.internal, SLO_TARGETS.internal_ack_ms),
      external: ackOf(latency.external, SLO_TARGETS.external_ack_ms),
    };
    const dead = rate(day.dead_letters, day.requests);
    const target = SLO_TARGETS.dead_letter_rate;
    const dead_letters = { count: day.dead_letters, rate: dead, target, ok: dead <= target };
    const jobs = jobsOf(ended);
    return {
      ok: error_budget.ok && ack.internal.ok && ack.external.ok && dead_letters.ok && jobs.ok,
      hours,
      since: new Date(since).toISOString(),
      requests,
      failures,
      error_rate,
      error_budget,
      ack,
      dead_letters,
      jobs,
      retries,
      by_code: codes,
      ...(by_hour ? { by_hour: slo.hours(workspace_id, hours).map(hourOf) } : {}),
    };
  },
});

type HourTally = ReturnType<AboutPorts['slo']['hours']>[number];

/** How one hour went, however its envelopes came. */
function hourOf({ since, tally }: HourTally) {
  const { requests, failures, dead_letters, latency } = tally;
  const p95 = quantile(
    latency.internal.map((count, i) => count + (latency.external[i] ?? 0)),
    P95,
  );
  const p95_ms = p95 === null ? null : Math.round(p95 * 10) / 10;
  return { since: new Date(since).toISOString(), requests, failures, p95_ms, dead_letters };
}

function ackOf(counts: readonly number[], target_ms: number) {
  const p95 = quantile(counts, P95);
  return {
    count: counts.reduce((sum, count) => sum + count, 0),
    p95_ms: p95 === null ? null : Math.round(p95 * 10) / 10,
    target_ms,
    ok: p95 === null || p95 <= target_ms,
  };
}

function jobsOf(counts: readonly number[]) {
  const target_ms = SLO_TARGETS.job_past_eta_ms;
  const p95 = quantile(counts, P95, JOB_BOUNDS_MS);
  return {
    count: counts.reduce((sum, count) => sum + count, 0),
    p95_past_eta_ms: p95 === null ? null : Math.round(p95),
    target_ms,
    ok: p95 === null || p95 <= target_ms,
  };
}

/** Dead letters without any request are a whole of them. */
const rate = (part: number, all: number): number => (part === 0 ? 0 : rounded(part / Math.max(part, all)));

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
