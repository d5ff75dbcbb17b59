import { createSloWindow } from '@parley/core';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';

import { readMetrics, sumOf } from '../../../../tests/metrics/read-metrics.ts';
import { createEnvelopeMeter } from './envelope-metrics.ts';

test('[KNOW-23] [C-ASYNC-01] [C-ASYNC-06] retries and dead letters of the queue are counted, and nothing else of it', async () => {
  const registry = new Registry();
  const slo = createSloWindow({ now: () => 0 });
  const { queued } = createEnvelopeMeter([registry], slo, 100);
  const event = {
    delivery_id: 'd',
    workspace_id: 'w1',
    agent_id: 'ed',
    action: 'knowledge.create_document',
    attempts: 1,
    ms: 5,
  } as const;
  queued({ ...event, kind: 'accepted' });
  for (let i = 0; i < 3; i++) queued({ ...event, kind: 'retried', code: 'UNAVAILABLE' });
  queued({ ...event, kind: 'dead', code: 'NOT_FOUND' });
  queued({ ...event, kind: 'redriven' });
  queued({ ...event, kind: 'delivered' });
  const samples = readMetrics(await registry.metrics());
  const labels = { action: 'knowledge.create_document', tenant: 'w1', principal: 'ed', status: 'ERROR' };
  expect(sumOf(samples, 'a2a_retries_total')).toBe(3);
  expect(sumOf(samples, 'a2a_retries_total', { ...labels, error_code: 'UNAVAILABLE' })).toBe(3);
  expect(sumOf(samples, 'a2a_dlq_total', { ...labels, error_code: 'NOT_FOUND' })).toBe(1);
  expect(sumOf(samples, 'a2a_requests_total')).toBe(0);
  expect(slo.last('w1', 1).tally).toMatchObject({ requests: 0, dead_letters: 1, retries: 3 });
});

test('[C-ENV-32] 10,000 principals, and names with quotes, line ends and backslashes, make an exposition that parses', async () => {
  const registry = new Registry();
  const meter = createEnvelopeMeter([registry], createSloWindow({ now: () => 0 }), 200);
  for (let i = 0; i < 10_000; i++) {
    const labels = { action: `a${i % 13}`, tenant: `t${i % 7}`, principal: `p"${i}\n\\` };
    meter.answered(labels, 'internal', i % 50, i % 3 === 0 ? 'NOT_FOUND' : undefined);
  }
  const samples = readMetrics(await registry.metrics());
  const requests = samples.filter(({ name }) => name === 'a2a_requests_total');
  expect(requests.length).toBeLessThanOrEqual(200 + 13 * 2 * 6);
  expect(sumOf(samples, 'a2a_requests_total')).toBe(10_000);
  expect(sumOf(samples, 'a2a_latency_ms_bucket', { le: '+Inf' })).toBe(10_000);
  expect(requests.some(({ labels }) => labels['principal'] === 'p"0\n\\')).toBe(true);
});
