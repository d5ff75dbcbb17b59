import { type OutputOf, SLO_TARGETS } from '@parley/protocol';
import type { Command } from 'commander';

import { countWithin } from '../arguments.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { fittedTable } from '../fitted.ts';
import { EXIT, print } from '../output.ts';
import { type Paint, painter } from '../style.ts';

type Slo = OutputOf<'get_slo'>;

const WEEK_HOURS = 168;

/** `parley slo`: the error budget and the other objectives of those who send envelopes. */
export function addSloCommand(program: Command): void {
  addConnectOptions(program.command('slo'))
    .description(
      'how envelopes fared: error budget, latency, dead letters, jobs; ends with 1 when one is missed',
    )
    .option('--hours <count>', 'how far back, at most a week', countWithin(1, WEEK_HOURS), WEEK_HOURS)
    .addHelpText('after', '\nExample:\n  parley slo --hours 24 --json')
    .action(async ({ hours }: { hours: number }, command: Command) => {
      const { client, json } = await connect(command);
      const slo = await client.get_slo({ hours });
      print({ json }, slo, () => fittedTable(rowsOf(slo, painter(command))));
      if (!slo.ok) process.exitCode = EXIT.failure;
    });
}

function rowsOf(slo: Slo, paint: Paint): string[][] {
  const { requests, failures, error_budget: budget, ack, dead_letters: dead, jobs } = slo;
  const verdict = (ok: boolean): string => (ok ? paint('green', 'ok') : paint('red', 'missed'));
  const codes = Object.entries(slo.by_code).toSorted(([, a], [, b]) => b - a);
  const ackRow = (name: string, { count, p95_ms, target_ms, ok }: Slo['ack']['internal']): string[] => [
    `ack, ${name}`,
    verdict(ok),
    p95_ms === null ? 'none' : `p95 ${p95_ms} ms of ${count}, target ${target_ms} ms`,
  ];
  return [
    ['envelopes', '', `${requests} in ${slo.hours} hours, ${failures} failed (${percent(slo.error_rate)})`],
    [
      'error budget',
      verdict(budget.ok),
      `${percent(budget.used)} used of ${percent(SLO_TARGETS.error_rate)} (${budget.allowed_failures} failures)`,
    ],
    ackRow('internal', ack.internal),
    ackRow('external', ack.external),
    [
      'dead letters',
      verdict(dead.ok),
      `${dead.count} today (${percent(dead.rate)}), target ${percent(dead.target)}`,
    ],
    [
      'jobs',
      verdict(jobs.ok),
      jobs.p95_past_eta_ms === null
        ? 'none'
        : `p95 ${jobs.p95_past_eta_ms} ms past the eta of ${jobs.count}, target ${jobs.target_ms} ms`,
    ],
    ['retries', '', String(slo.retries)],
    ...(codes.length === 0 ? [] : [['by code', '', codes.map(([code, n]) => `${n} ${code}`).join(', ')]]),
  ];
}

const percent = (share: number): string => `${Math.round(share * 10_000) / 100} %`;
