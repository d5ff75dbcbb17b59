import { clockState, createSloWindow, type Live } from '@parley/core';
import { Registry } from 'prom-client';

import type { Config } from './config/schema.ts';
import { createEnvelopeMeter } from './metrics/envelope-metrics.ts';
import { createCallMeter } from './metrics/hub-metrics.ts';
import { keepSlo } from './metrics/slo-file.ts';
import type { OpenRecord } from './start-record.ts';

/** What is counted: envelopes against their promises, calls, and what the gauges show. */
export type Metrics = ReturnType<typeof openMetrics>;

/** Opens the hub's metrics; the week of envelopes goes on where the last hub left it. */
export function openMetrics(
  config: Config,
  { store, clock, time, stateFiles, nodes }: OpenRecord,
  live: Live,
  onFault: (error: unknown) => void,
) {
  const slo = createSloWindow({ now: clock.trusted });
  const file = keepSlo(stateFiles, slo, { now: clock.trusted }, onFault);
  const registry = new Registry();
  return {
    slo: file.window,
    registry,
    envelopes: createEnvelopeMeter([registry], slo, config.metrics.max_series),
    calls: createCallMeter(registry, {
      entries: () => store.size(),
      writable: () => store.health().writable,
      waiting: () => store.health().waiting ?? 0,
      connections: () => live.connections,
      agents: () => live.agentCount,
      searchLag: () => store.searchLag(undefined),
      clockAheadMs: () => clockState(time.known()).ahead_ms,
      now: clock.now,
      ...(nodes && {
        nodes: () => ({ ...nodes.bus.health(), others: nodes.mirror.nodes().length }),
      }),
    }),
    close: () => file.close(),
  };
}
