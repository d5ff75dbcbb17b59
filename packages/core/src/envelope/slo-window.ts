import type { Clock } from '../clock.ts';

/** Upper bounds of the latencies that are told apart, in milliseconds; what is above the last has no bound. */
export const LATENCY_BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_000, 4_000, 10_000] as const;

/** How an envelope came: within the platform, or signed by one outside. */
export type Profile = 'internal' | 'external';

/** What a workspace did within an hour, or within several. */
interface Tally {
  requests: number;
  failures: number;
  dead_letters: number;
  retries: number;
  codes: Record<string, number>;
  /** How many answers fell under each bound, and at the end above all of them. */
  latency: Record<Profile, number[]>;
}

/** The hours of the last week, by workspace: what objectives are held against. */
export interface SloWindow {
  answered(workspaceId: string, profile: Profile, ms: number, code: string | undefined): void;
  deadLetter(workspaceId: string): void;
  retry(workspaceId: string): void;
  /** What a workspace did within the last hours, and when the first of them began. */
  last(workspaceId: string, hours: number): { tally: Tally; since: number };
  /** All hours as plain data, and back. */
  dump(): SloDump;
  load(dump: SloDump): void;
}

export type SloDump = [hour: number, workspaceId: string, tally: Tally][];

const WINDOW_HOURS = 168;
const HOUR_MS = 3_600_000;
/** More workspaces than that are not kept apart within an hour. */
const MAX_WORKSPACES = 200;

/** Counts by the hour in memory; what is older than a week falls out. */
export function createSloWindow(clock: Pick<Clock, 'now'>): SloWindow {
  const hours = new Map<number, Map<string, Tally>>();
  const hourOf = (now: number): number => Math.floor(now / HOUR_MS);

  function tallyOf(workspaceId: string): Tally {
    const hour = hourOf(clock.now());
    let tallies = hours.get(hour);
    if (tallies === undefined) {
      for (const old of hours.keys()) if (old <= hour - WINDOW_HOURS) hours.delete(old);
      hours.set(hour, (tallies = new Map()));
    }
    let tally = tallies.get(workspaceId);
    if (tally === undefined) {
      tally = emptyTally();
      if (tallies.size < MAX_WORKSPACES) tallies.set(workspaceId, tally);
    }
    return tally;
  }

  return {
    answered(workspaceId, profile, ms, code) {
      const tally = tallyOf(workspaceId);
      tally.requests += 1;
      const at = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound);
      const counts = tally.latency[profile];
      const i = at < 0 ? LATENCY_BOUNDS_MS.length : at;
      counts[i] = (counts[i] ?? 0) + 1;
      if (code === undefined) return;
      tally.failures += 1;
      tally.codes[code] = (tally.codes[code] ?? 0) + 1;
    },
    deadLetter: (workspaceId) => void (tallyOf(workspaceId).dead_letters += 1),
    retry: (workspaceId) => void (tallyOf(workspaceId).retries += 1),
    last(workspaceId, count) {
      const first = hourOf(clock.now()) - count + 1;
      const sum = emptyTally();
      for (const [hour, tallies] of hours) {
        const tally = hour < first ? undefined : tallies.get(workspaceId);
        if (tally !== undefined) add(sum, tally);
      }
      return { tally: sum, since: first * HOUR_MS };
    },
    dump: () =>
      [...hours].flatMap(([hour, tallies]) =>
        [...tallies].map(([workspaceId, tally]): SloDump[number] => [hour, workspaceId, tally]),
      ),
    load(dump) {
      for (const [hour, workspaceId, tally] of dump) {
        const tallies = hours.get(hour) ?? new Map<string, Tally>();
        hours.set(hour, tallies.set(workspaceId, tally));
      }
    },
  };
}

function emptyTally(): Tally {
  const counts = (): number[] => Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, () => 0);
  return {
    requests: 0,
    failures: 0,
    dead_letters: 0,
    retries: 0,
    codes: {},
    latency: { internal: counts(), external: counts() },
  };
}

function add(sum: Tally, { requests, failures, dead_letters, retries, codes, latency }: Tally): void {
  sum.requests += requests;
  sum.failures += failures;
  sum.dead_letters += dead_letters;
  sum.retries += retries;
  for (const [code, count] of Object.entries(codes)) sum.codes[code] = (sum.codes[code] ?? 0) + count;
  for (const profile of ['internal', 'external'] as const)
    for (const [i, count] of latency[profile].entries())
      sum.latency[profile][i] = (sum.latency[profile][i] ?? 0) + count;
}

/** The latency below which the given share lies, read off the bounds as Prometheus does; null when nothing was counted. */
export function quantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = total * share;
  let below = 0;
  for (const [i, count] of counts.entries()) {
    const low = i === 0 ? 0 : (LATENCY_BOUNDS_MS[i - 1] ?? 0);
    // Above the last bound nothing is known but that it is above.
    const high = LATENCY_BOUNDS_MS[i] ?? low;
    if (count > 0 && below + count >= rank) return low + ((high - low) * (rank - below)) / count;
    below += count;
  }
  return LATENCY_BOUNDS_MS.at(-1) ?? 0;
}
