import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** How long one call takes, in milliseconds. */
export async function timed(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await call();
  return performance.now() - started;
}

/** The value below which the given share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/**
 * Milliseconds that the main thread of a process has run. What one call adds to it bounds how long the call held the
 * event loop, and unlike a clock it does not count the time that other processes took.
 */
export function mainThreadMs(pid: number): number {
  const [ran = '0'] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1e6;
}
