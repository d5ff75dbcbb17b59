import type { OutputOf } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { Chart } from './chart.tsx';

type Slo = OutputOf<'get_slo'>;
type Hour = NonNullable<Slo['by_hour']>[number];

const HOUR_MS = 3_600_000;
const time = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });

/** How the service levels came about, hour by hour, from the first hour that is kept; as lines, or as a table. */
export function LevelHistory({ slo }: { slo: Slo }) {
  const [asTable, set] = useState(false);
  const hours = slo.by_hour ?? [];
  const [first] = hours;
  if (first === undefined) return null;
  const all = everyHour(hours, Date.parse(first.since), Date.parse(slo.since) + slo.hours * HOUR_MS);
  const last = all.at(-1);
  const most = (points: readonly number[]): string => Math.max(...points).toLocaleString();
  const requests = all.map((hour) => hour.requests);
  const failures = all.map((hour) => hour.failures);
  const p95 = all.map((hour) => Math.round(hour.p95_ms ?? 0));
  return (
    <>
      <div class="levels-head">
        <p class="meta">
          Hour by hour since {time.format(new Date(first.since))}; the number is the most in one hour.
        </p>
        <button type="button" class="button" aria-expanded={asTable} onClick={() => set(!asTable)}>
          {asTable ? 'Hide the table' : 'Show as a table'}
        </button>
      </div>
      <div class="figures">
        <Chart name="Envelopes an hour" value={most(requests)} points={requests} />
        <Chart name="Failures an hour" value={most(failures)} points={failures} />
        <Chart name="Answered, p95" value={`${most(p95)} ms`} points={p95} />
      </div>
      {!asTable || last === undefined ? null : (
        <div class="table-box" tabIndex={0} role="region" aria-label="Service levels hour by hour">
          <table class="table">
            <caption>Service levels hour by hour, the newest first</caption>
            <thead>
              <tr>
                <th scope="col">Hour</th>
                <th scope="col">Envelopes</th>
                <th scope="col">Failures</th>
                <th scope="col">Answered, p95</th>
                <th scope="col">Dead letters</th>
              </tr>
            </thead>
            <tbody>
              {hours.toReversed().map((hour) => (
                <tr key={hour.since}>
                  <th scope="row">{time.format(new Date(hour.since))}</th>
                  <td>{hour.requests.toLocaleString()}</td>
                  <td>{hour.failures.toLocaleString()}</td>
                  <td>{hour.p95_ms === null ? 'none' : `${Math.round(hour.p95_ms).toLocaleString()} ms`}</td>
                  <td>{hour.dead_letters.toLocaleString()}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

/** An hour in which nothing happened was there as well. */
function everyHour(hours: readonly Hour[], from: number, to: number): Hour[] {
  const known = new Map(hours.map((hour) => [Date.parse(hour.since), hour]));
  const all: Hour[] = [];
  for (let at = from; at < to; at += HOUR_MS)
    all.push(
      known.get(at) ?? {
        since: new Date(at).toISOString(),
        requests: 0,
        failures: 0,
        p95_ms: null,
        dead_letters: 0,
      },
    );
  return all;
}
