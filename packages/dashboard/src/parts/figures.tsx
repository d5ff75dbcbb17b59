import type { OutputOf } from '@parley/protocol';
import { signal } from '@preact/signals';

import { call } from '../data/api.ts';
import { plural } from '../words.ts';
import { Chart } from './chart.tsx';
import { LevelHistory } from './level-history.tsx';
import { Section } from './page.tsx';
import { useRefreshed } from './use-refreshed.ts';

type Hub = OutputOf<'describe_hub'>;
type Slo = OutputOf<'get_slo'>;

/** One look at the hub, and what it tells together with the one before. */
interface Sample {
  at: number;
  hub: Hub;
  perSecond: number;
  /** Share of the time in which the hub was at work. */
  busy: number;
}

const KEPT = 150;

/** The looks that this page has taken since it was opened. */
const samples = signal<readonly Sample[]>([]);

/** Takes note of how the hub is now. */
export function sample(hub: Hub): void {
  const at = performance.now();
  const last = samples.peek().at(-1);
  // After a restart the counts begin anew.
  const before = last?.hub.started_at === hub.started_at ? last : undefined;
  const active = hub.event_loop.active_ms - (before?.hub.event_loop.active_ms ?? 0);
  const idle = hub.event_loop.idle_ms - (before?.hub.event_loop.idle_ms ?? 0);
  const perSecond =
    before === undefined ? 0 : ((hub.position - before.hub.position) * 1_000) / Math.max(1, at - before.at);
  const next = { at, hub, perSecond, busy: active / Math.max(1, active + idle) };
  samples.value = [...samples.peek().slice(1 - KEPT), next];
}

/** How the hub is doing at this moment, as lines that grow while somebody looks. */
export function Pulse() {
  const rows = samples.value;
  const last = rows.at(-1);
  if (last === undefined) return null;
  return (
    <div class="figures">
      <Chart
        name="Entries per second"
        value={last.perSecond < 10 ? last.perSecond.toFixed(1) : Math.round(last.perSecond).toLocaleString()}
        points={rows.map(({ perSecond }) => perSecond)}
      />
      <Chart
        name="Connected agents"
        value={last.hub.connections.toLocaleString()}
        points={rows.map(({ hub }) => hub.connections)}
      />
      <Chart
        name="Event loop at work"
        value={percent(last.busy)}
        points={rows.map(({ busy }) => busy)}
        top={1}
      />
    </div>
  );
}

const LOOK_MS = 30_000;

/** What is promised to those who send envelopes, and how far it was kept. */
export function ServiceLevels({ onAnswer }: { onAnswer: () => void }) {
  const load = (): Promise<Slo> => call('get_slo', { by_hour: true }).finally(onAnswer);
  const { found: slo, failed } = useRefreshed(load, LOOK_MS, []);
  return (
    <Section title="Service levels">
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {slo === undefined ? null : <Levels slo={slo} />}
    </Section>
  );
}

function Levels({ slo }: { slo: Slo }) {
  const { error_budget, ack, dead_letters, jobs, requests, failures, by_code } = slo;
  const codes = Object.entries(by_code).toSorted(([, a], [, b]) => b - a);
  return (
    <>
      <p class="meta">
        {requests === 0
          ? `No envelopes in the last ${spanOf(slo.hours)}.`
          : `${plural(requests, 'envelope')} in the last ${spanOf(slo.hours)}, ${plural(failures, 'failure')}, ${plural(slo.retries, 'retry', 'retries')}.`}
      </p>
      <div class="figures">
        <Figure
          name="Error budget left"
          value={percent(error_budget.remaining)}
          ok={error_budget.ok}
          note={
            failures === 0
              ? 'no failures'
              : `${plural(failures, 'failure')}, ${error_budget.allowed_failures.toLocaleString()} allowed`
          }
          share={error_budget.remaining}
        />
        <Figure name="Answered, p95" {...speed(ack.internal)} />
        {ack.external.count === 0 ? null : <Figure name="Outside work, p95" {...speed(ack.external)} />}
        <Figure
          name="Dead letters, 24 h"
          value={dead_letters.count.toLocaleString()}
          ok={dead_letters.ok}
          note={`${percent(dead_letters.rate, 2)}, promised at most ${percent(dead_letters.target, 2)}`}
          href="/log?f=dead"
        />
        {jobs.p95_past_eta_ms === null ? null : (
          <Figure
            name="Jobs past their time, p95"
            value={`${jobs.p95_past_eta_ms.toLocaleString()} ms`}
            ok={jobs.ok}
            note={`promised ${(jobs.target_ms / 1_000).toLocaleString()} s`}
          />
        )}
      </div>
      <LevelHistory slo={slo} />
      {codes.length === 0 ? null : (
        <p class="meta">
          Failures: {codes.map(([code, count]) => `${code} ${count.toLocaleString()}`).join(', ')}.
        </p>
      )}
    </>
  );
}

function speed({ count, p95_ms, target_ms, ok }: Slo['ack']['internal']): Omit<FigureProps, 'name'> {
  return {
    value: p95_ms === null ? 'none yet' : `${Math.round(p95_ms).toLocaleString()} ms`,
    ok: count === 0 ? undefined : ok,
    note: `promised ${target_ms.toLocaleString()} ms`,
  };
}

interface FigureProps {
  name: string;
  value: string;
  note: string;
  /** Undefined where there is nothing to judge. */
  ok: boolean | undefined;
  share?: number;
  href?: string;
}

function Figure({ name, value, note, ok, share, href }: FigureProps) {
  return (
    <div class={ok === false ? 'figure figure-bad' : 'figure'}>
      <span class="figure-name">{name}</span>
      <span class="figure-value">
        {value}
        {ok === undefined ? null : (
          <span class={`chip ${ok ? 'chip-working' : 'chip-error'}`}>{ok ? 'kept' : 'missed'}</span>
        )}
      </span>
      {share === undefined ? null : (
        <meter min={0} max={1} low={0.25} value={share} aria-label={name}>
          {value}
        </meter>
      )}
      <span class="meta">{note}</span>
      {href === undefined ? null : (
        <a class="figure-link" href={href}>
          Show dead letters
        </a>
      )}
    </div>
  );
}

function percent(share: number, digits = 0): string {
  return `${(share * 100).toFixed(digits)} %`;
}

function spanOf(hours: number): string {
  return hours % 24 === 0 ? plural(hours / 24, 'day') : plural(hours, 'hour');
}
