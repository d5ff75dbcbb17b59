import type { CallRecord, SearchLag } from '@parley/core';
import type { OperationName } from '@parley/protocol';
import { collectDefaultMetrics, Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What the hub tells of itself when it is asked. */
export interface HubGauges {
  entries: () => Promise<number>;
  writable: () => boolean;
  waiting: () => number;
  connections: () => number;
  agents: () => number;
  searchLag: () => Promise<SearchLag>;
  clockAheadMs: () => number;
  /** How the other nodes are heard, and how many they are; undefined in a hub that is alone. */
  nodes?: () => { connected: boolean; others: number };
  now: () => number;
}

const CALL_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 60];
const LOOP_PRECISION_MS = 50;

/** Counts the calls of the hub; a post pays for two additions and no more. */
export interface CallMeter {
  called(call: Pick<CallRecord, 'operation' | 'ms' | 'error'>): void;
  /** Looks after the process too, from the first scrape on: before, nobody wants to know. */
  watchProcess(): void;
}

/** The hub's own metrics, beside those of the envelope. */
export function createCallMeter(registry: Registry, gauges: HubGauges): CallMeter {
  const registers = [registry];
  const latency = new Histogram({
    name: 'parley_call_seconds',
    help: 'Seconds that the calls of an operation took, on all faces.',
    labelNames: ['operation'],
    buckets: CALL_BOUNDS_S,
    registers,
  });
  const errors = new Counter({
    name: 'parley_call_errors_total',
    help: 'Calls that ended in an error.',
    labelNames: ['operation', 'code'],
    registers,
  });
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
    void new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });
  };
  gauge('parley_log_position', 'Entries in the log, of all workspaces.', gauges.entries);
  gauge('parley_store_writable', '1 while the hub takes writes.', () => (gauges.writable() ? 1 : 0));
  gauge('parley_store_queue', 'Writes that wait for the disk.', gauges.waiting);
  gauge('parley_live_connections', 'Connections on /ws and its HTTP fallback.', gauges.connections);
  gauge('parley_agents_connected', 'Agents that are connected.', gauges.agents);
  gauge(
    'parley_search_lag_entries',
    'Entries that the index of words lacks.',
    async () => (await gauges.searchLag()).entries,
  );
  gauge('parley_search_lag_seconds', 'Age of the oldest entry that the index of words lacks.', async () => {
    const { since } = await gauges.searchLag();
    return since === undefined ? 0 : Math.max(0, gauges.now() - Date.parse(since)) / 1_000;
  });
  gauge(
    'parley_clock_ahead_seconds',
    'How far the clock is ahead of the time that has surely passed; 0 while it is trusted.',
    () => gauges.clockAheadMs() / 1_000,
  );

  // A hub that is alone misses nobody: the same alerts and pictures hold for it.
  const { nodes = () => ({ connected: true, others: 0 }) } = gauges;
  gauge('parley_bus_connected', '1 while this node hears the others by the bus, or is alone.', () =>
    nodes().connected ? 1 : 0,
  );
  gauge('parley_nodes', 'Nodes of the hub that this one knows, itself among them.', () => nodes().others + 1);

  const seriesByOperation = new Map<OperationName, Histogram.Internal<'operation'>>();
  let watched = false;
  return {
    called({ operation, ms, error }) {
      let series = seriesByOperation.get(operation);
      if (series === undefined) seriesByOperation.set(operation, (series = latency.labels({ operation })));
      series.observe(ms / 1_000);
      if (error !== undefined) errors.inc({ operation, code: error.code });
    },
    watchProcess() {
      if (watched) return;
      watched = true;
      collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_PRECISION_MS });
    },
  };
}
