import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { SLO_TARGETS } from '@parley/protocol';
import { afterAll, expect, test, vi } from 'vitest';

import { runCli } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';
import { envelopeOf, type Fields, newPage, sendEnvelope } from '../knowledge/envelope-client.ts';
import { describeWith } from '../tools/describe-with.ts';
import { startPrometheus } from './prometheus.ts';
import { readMetrics, sumOf } from './read-metrics.ts';

const SECRET = 'scrape-secret-of-forty-characters-000000';
const folder = mkdtempSync(join(tmpdir(), 'parley-metrics-'));
const secretFile = join(folder, 'metrics.key');
writeFileSync(secretFile, `${SECRET}\n`, { mode: 0o600 });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scene = useHub({
  settings: {
    'metrics.token_file': secretFile,
    'metrics.max_series': 100,
    'envelope.requests_per_minute': 100_000,
    'quota.bad_tokens_burst': 10_000,
  },
});

const scrape = async (token: string | undefined) =>
  send(`${scene.hub.url}/metrics`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
const samples = async () => readMetrics((await scrape(SECRET)).text);

const call = (
  action: string,
  args: Fields,
  more: Fields = {},
  agent = 'ed',
  workspace = 'w1',
  headers = {},
) =>
  sendEnvelope(
    scene.hub.url,
    scene.as(agent, { role: 'orchestrator', workspace }).token,
    envelopeOf(action, args, { tenant_id: workspace, principal: { sub: agent, roles: ['editor'] }, ...more }),
    { headers },
  );
const fine = () => call('knowledge.list_documents', {});
const missing = () => call('knowledge.get_document', { document_id: randomUUID() });

/** An envelope for later that ends as a dead letter. */
async function dead(): Promise<void> {
  const count = async (): Promise<number> => sumOf(await samples(), 'a2a_dlq_total');
  const before = await count();
  const args = newPage({ parent_id: randomUUID() });
  await call('knowledge.create_document', args, {}, 'ed', 'w1', { prefer: 'respond-async' });
  await vi.waitFor(async () => expect(await count()).toBe(before + 1), { timeout: 30_000, interval: 250 });
}

/** So many of each, a few at a time. */
async function mix(good: number, bad: number): Promise<void> {
  const calls = Array.from({ length: good + bad }, (_, i) => (i < good ? fine : missing));
  while (calls.length > 0) await Promise.all(calls.splice(0, 8).map((one) => one()));
}

test('[KNOW-23] [C-ENV-32] [C-LOCAL-02] /metrics is for those who run the hub and for the scraper', async () => {
  expect((await scrape(undefined)).status).toBe(401);
  expect((await scrape('not-the-secret-but-just-as-long-00000000')).status).toBe(401);
  const as = (role: string, workspace: string) => scene.as('kim', { role, workspace }).token;
  expect((await scrape(as('operator', 'w1'))).status).toBe(403);
  expect((await scrape(as('worker', 'default'))).status).toBe(403);
  for (const token of [SECRET, as('operator', 'default')]) {
    const { status, headers, text } = await scrape(token);
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).not.toContain(SECRET);
    const names = new Set(readMetrics(text).map(({ name }) => name));
    for (const name of ['parley_log_position', 'parley_store_writable', 'parley_agents_connected'])
      expect(names).toContain(name);
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'])
      expect(names).toContain(name);
  }
  expect((await send(`${scene.hub.url}/metrics?token=${SECRET}`)).status).toBe(401);
  chmodSync(secretFile, 0o644);
  expect((await scrape(SECRET)).status).toBe(401);
  chmodSync(secretFile, 0o600);
});

test('[KNOW-23] [C-ASYNC-06] the counters and the histogram equal a known mix, with all labels', async () => {
  const before = await samples();
  const page = newPage();
  const sent: [string, () => Promise<{ status: number }>][] = [
    ['', () => call('knowledge.create_document', page)],
    ['CONFLICT', () => call('knowledge.create_document', page)],
    ['NOT_FOUND', missing],
    ['NOT_FOUND', missing],
    ['UNPROCESSABLE_ENTITY', () => call('knowledge.list_documents', { limit: 0 })],
    ['EXPIRED', () => call('knowledge.list_documents', {}, { timestamp: '2020-01-01T00:00:00Z' })],
    ['INVALID_ARGUMENT', () => call('knowledge.no such\n"action"\\', {})],
    ['FORBIDDEN', () => call('knowledge.list_documents', {}, { tenant_id: 'w2' })],
    ['UNAUTHORIZED', () => sendEnvelope(scene.hub.url, undefined, envelopeOf('registry.list', {}))],
  ];
  for (const [, one] of sent) await one();
  const after = await samples();
  const grown = (name: string, labels: Record<string, string>): number =>
    sumOf(after, name, labels) - sumOf(before, name, labels);
  for (const code of new Set(sent.map(([name]) => name))) {
    const count = sent.filter(([name]) => name === code).length;
    const labels = { error_code: code, status: code === '' ? 'SUCCESS' : 'ERROR' };
    for (const name of ['a2a_requests_total', 'a2a_latency_ms_count'])
      expect([code, name, grown(name, labels)]).toEqual([code, name, count]);
    expect(grown('a2a_latency_ms_bucket', { ...labels, le: '+Inf' })).toBe(count);
  }
  const known = after.find(
    ({ name, labels }) => name === 'a2a_requests_total' && labels['status'] === 'SUCCESS',
  );
  expect(known?.labels).toEqual({
    action: 'knowledge.create_document',
    tenant: 'w1',
    principal: 'ed',
    status: 'SUCCESS',
    error_code: '',
  });
  const actions = new Set(
    after.filter(({ name }) => name === 'a2a_requests_total').map((s) => s.labels['action']),
  );
  expect([...actions].every((action) => /^(?:_unknown|[a-z_]+\.[a-z_]+)$/.test(action ?? ''))).toBe(true);
  for (const name of ['a2a_dlq_total', 'a2a_retries_total']) expect(sumOf(after, name)).toBe(0);
});

test('[KNOW-23] the budget of a workspace is reported to itself alone', async () => {
  const ann = scene.as('ann', { role: 'orchestrator', workspace: 'w7' });
  expect(await ann.ok('get_slo', {})).toMatchObject({ ok: true, requests: 0, error_rate: 0, hours: 168 });
  const own = (args: Fields) => call('knowledge.list_documents', args, {}, 'ann', 'w7');
  for (let i = 0; i < 3; i++) await own({});
  await own({ limit: 0 });
  const slo = await ann.ok('get_slo', { hours: 24 });
  expect(slo).toMatchObject({
    ok: false,
    requests: 4,
    failures: 1,
    error_rate: 0.25,
    error_budget: { target: 0.01, used: 25, remaining: 0, ok: false },
    ack: { internal: { count: 4, target_ms: 1_000 }, external: { count: 0, p95_ms: null, ok: true } },
    dead_letters: { count: 0, ok: true },
    by_code: { UNPROCESSABLE_ENTITY: 1 },
  });
  const shown = await runCli(['slo', '--hours', '1', '--url', scene.hub.url], {
    data: scene.hub.data,
    env: { PARLEY_TOKEN: ann.token },
  });
  expect(shown.code).toBe(1);
  expect(shown.stdout).toMatch(/envelopes +4 in 1 hours, 1 failed \(25 %\)/);
  expect(shown.stdout).toMatch(/error budget +missed +2500 % used of 1 %/);
});

test('[C-ENV-32] very many principals and errors make a bounded number of series', async () => {
  for (let i = 0; i < 30; i++)
    await Promise.all(
      Array.from({ length: 10 }, (_, j) => call('knowledge.list_documents', {}, {}, `p${i * 10 + j}`, 'w5')),
    );
  const series = (await samples()).filter(({ name }) => name === 'a2a_requests_total');
  expect(series.filter(({ labels }) => labels['tenant'] === 'w5').length).toBeLessThanOrEqual(21);
  expect(sumOf(series, 'a2a_requests_total', { tenant: 'w5' })).toBe(300);
  expect(sumOf(series, 'a2a_requests_total', { tenant: 'w5', principal: '_other' })).toBe(280);
});

/** An expression of the contract, as it stands there. */
const expression = (name: string): string =>
  readFileSync(new URL(`../knowledge/data/contract/${name}`, import.meta.url), 'utf8').trim();

test('[KNOW-23] whatever the contract asks for is there: its metrics, its labels, its objectives with their numbers', async () => {
  await fine();
  await dead();
  const found = await samples();
  const labelled = found.find(({ name }) => name === 'a2a_requests_total')?.labels ?? {};
  for (const file of ['ack-p95.mql', 'error-budget.mql']) {
    const text = expression(file);
    for (const name of text.match(/a2a_\w+/g) ?? [])
      expect(found.some((one) => one.name.startsWith(name))).toBe(true);
    for (const [, label = ''] of text.matchAll(/\b(\w+) (?:==|=~|!=) "/g))
      expect(labelled).toHaveProperty(label);
  }
  const slo = await scene.as('ed', { role: 'orchestrator', workspace: 'w1' }).ok('get_slo', {});
  const reported: Record<keyof typeof SLO_TARGETS, number> = {
    error_rate: slo.error_budget.target,
    internal_ack_ms: slo.ack.internal.target_ms,
    external_ack_ms: slo.ack.external.target_ms,
    dead_letter_rate: slo.dead_letters.target,
    job_past_eta_ms: slo.jobs.target_ms,
  };
  expect(reported).toEqual({
    error_rate: 0.01,
    internal_ack_ms: 1_000,
    external_ack_ms: 2_000,
    dead_letter_rate: 0.001,
    job_past_eta_ms: 60_000,
  });
  for (const [objective, target] of Object.entries(reported))
    expect(sumOf(found, 'parley_slo_target', { objective })).toBe(target);
  const rules = readFileSync(new URL('../../deploy/prometheus/parley-rules.yml', import.meta.url), 'utf8');
  const bounds = [...rules.matchAll(/alert: (\w+)\n\s+expr: \|\n[^#]*?> ([\d.]+)\n/g)].map(
    ([, name, bound]) => [name, Number(bound)],
  );
  expect(Object.fromEntries(bounds)).toMatchObject({
    ParleyErrorBudgetSpent: reported.error_rate,
    ParleyDeadLetters: reported.dead_letter_rate,
    ParleySlowAcks: reported.internal_ack_ms,
    ParleySlowAcksOutside: reported.external_ack_ms,
    ParleyJobsLate: reported.job_past_eta_ms,
  });
});

describeWith(['prometheus', 'promtool'], 'Prometheus itself', ({ promtool }) => {
  test('[KNOW-23] [C-ASYNC-06] the expressions of the contract give the right numbers at 0.9 % and 1.1 %', async () => {
    // Every series is there before the first scrape: what Prometheus has not seen begin, it does not count.
    await mix(250, 25);
    for (let i = 0; i < 2; i++) await dead();
    const prometheus = await startPrometheus(scene.hub.url, SECRET);
    try {
      const before = await samples();
      const budget = expression('error-budget.promql');
      const rate = budget.replace(/ > 0\.01\s*$/, '');
      await prometheus.scraped(3);
      await mix(991, 9);
      await prometheus.scraped(5);
      expect(await prometheus.query(rate)).toBeCloseTo(0.009, 6);
      expect(await prometheus.query(budget)).toBeUndefined();
      await mix(0, 2);
      await dead();
      await prometheus.scraped(5);
      expect(await prometheus.query(rate)).toBeCloseTo(11 / 1_003, 6);
      expect(await prometheus.query(budget)).toBeCloseTo(11 / 1_003, 6);
      expect(await prometheus.query(expression('dlq-rate.promql'))).toBeCloseTo(1 / 1_003, 6);
      const counted = sumOf(await samples(), 'a2a_requests_total') - sumOf(before, 'a2a_requests_total');
      expect(counted).toBe(1_003);
      expect(await prometheus.query('sum(a2a_requests_total)')).toBe(
        sumOf(await samples(), 'a2a_requests_total'),
      );
      const ask = () => call('knowledge.query_knowledge', { query: 'anything' });
      await ask();
      await prometheus.scraped(3);
      await ask();
      await prometheus.scraped(3);
      expect(await prometheus.query(expression('latency-p95.promql'))).toBeGreaterThan(0);
    } finally {
      await prometheus.close();
    }
  }, 240_000);

  test('[KNOW-23] the alert rules hold, and the dashboard asks for metrics that are there', async () => {
    const deploy = new URL('../../deploy/', import.meta.url);
    const run = (...args: string[]) =>
      execFileSync(promtool, args, { cwd: new URL('prometheus/', deploy) }).toString();
    expect(run('check', 'rules', 'parley-rules.yml')).toContain('SUCCESS');
    expect(run('test', 'rules', 'parley-rules.test.yml')).toContain('SUCCESS');
    const names = new Set((await samples()).map(({ name }) => name));
    const texts = ['grafana/parley.json', 'prometheus/parley-rules.yml'].map((path) =>
      readFileSync(new URL(path, deploy), 'utf8'),
    );
    const asked = texts.flatMap((text) => text.match(/\b(?:a2a|parley|nodejs|process)_\w+/g) ?? []);
    expect(asked.length).toBeGreaterThan(10);
    for (const name of asked) expect(names).toContain(name);
  });
});
