import type { Clock } from '../clock.ts';

/** Upper bounds of the latencies that are told apart, in milliseconds; what is above the last has no bound. */
export const LATENCY_BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_000, 4_000, 10_000] as const;

/** Bounds of how long after their promised time deliveries end; up to the first they were in time. */
export const JOB_BOUNDS_MS = [0, 1_000, 5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 900_000] as const;

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
  /** How many deliveries ended under each bound past their promised time. */
  jobs: number[];
}

/** The hours of the last week, by workspace: what objectives are held against. */
export interface SloWindow {
  answered(workspaceId: string, profile: Profile, ms: number, code: string | undefined): void;
  deadLetter(workspaceId: string): void;
  retry(workspaceId: string): void;
  /** A delivery came to its end so long after its promised time, or before it. */
  job(workspaceId: string, pastEtaMs: number): void;
  /** What a workspace did within the last hours, and when the first of them began. */
  last(workspaceId: string, hours: number): { tally: Tally; since: number };
  /** The last hours one by one, those in which something happened, the oldest first. */
  hours(workspaceId: string, hours: number): { since: number; tally: Tally }[];
  /** All hours as plain data. */
  dump(): SloDump;
  /** Puts what was kept, by this node and others, in the place of what was loaded before. */
  load(kept: SloRecord): void;
  /** What was counted since it was last kept; it counts on until it is told what is kept now, or that nothing was. */
  take(): { counted: SloDump; done: (kept: SloRecord) => void; failed: () => void };
}

export type SloDump = [hour: number, workspaceId: string, tally: Tally][];

/** What was kept before deliveries had a promised time tells nothing of it. */
export type SloRecord = [
  hour: number,
  workspaceId: string,
  tally: Omit<Tally, 'jobs'> & { jobs?: number[] | undefined },
][];

const WINDOW_HOURS = 168;
const HOUR_MS = 3_600_000;
/** More workspaces than that are not kept apart within an hour. */
const MAX_WORKSPACES = 200;

type Hours = Map<number, Map<string, Tally>>;

/** Counts by the hour in memory; what is older than a week falls out. */
export function createSloWindow(clock: Pick<Clock, 'now'>): SloWindow {
  let kept: Hours = new Map();
  let counted: Hours = new Map();
  /** What is on its way to where it is kept. */
  const leaving = new Set<Hours>();
  const layers = (): Hours[] => [kept, ...leaving, counted];

  function tallyOf(workspaceId: string): Tally {
    const hour = hourOf(clock.now());
    if (!counted.has(hour)) {
      for (const hours of layers())
        for (const old of hours.keys()) if (old <= hour - WINDOW_HOURS) hours.delete(old);
      counted.set(hour, new Map());
    }
    const tallies = counted.get(hour) ?? new Map<string, Tally>();
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
      count(tally.latency[profile], LATENCY_BOUNDS_MS, ms);
      if (code === undefined) return;
      tally.failures += 1;
      tally.codes[code] = (tally.codes[code] ?? 0) + 1;
    },
    deadLetter: (workspaceId) => void (tallyOf(workspaceId).dead_letters += 1),
    retry: (workspaceId) => void (tallyOf(workspaceId).retries += 1),
    job: (workspaceId, pastEtaMs) => count(tallyOf(workspaceId).jobs, JOB_BOUNDS_MS, pastEtaMs),
    last(workspaceId, wanted) {
      const first = hourOf(clock.now()) - wanted + 1;
      const sum = emptyTally();
      for (const hours of layers())
        for (const [hour, tallies] of hours) {
          const tally = hour < first ? undefined : tallies.get(workspaceId);
          if (tally !== undefined) add(sum, tally);
        }
      return { tally: sum, since: first * HOUR_MS };
    },
    hours(workspaceId, wanted) {
      const first = hourOf(clock.now()) - wanted + 1;
      return flat(summed(layers()))
        .filter(([hour, workspace]) => hour >= first && workspace === workspaceId)
        .map(([hour, , tally]) => ({ since: hour * HOUR_MS, tally }))
        .toSorted((a, b) => a.since - b.since);
    },
    dump: () => flat(summed(layers())),
    load(record) {
      kept = hoursOf(record);
    },
    take() {
      const part = counted;
      counted = new Map();
      leaving.add(part);
      return {
        counted: flat(part),
        done(record) {
          leaving.delete(part);
          kept = hoursOf(record);
        },
        failed() {
          leaving.delete(part);
          counted = summed([part, counted]);
        },
      };
    },
  };
}

/** What was kept and what was counted since, together; what is older than a week falls out. */
export function addCounts(kept: SloRecord, counted: SloDump, now: number): SloDump {
  const first = hourOf(now) - WINDOW_HOURS + 1;
  return flat(summed([hoursOf(kept), hoursOf(counted)])).filter(([hour]) => hour >= first);
}

function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS);
}

function hoursOf(record: SloRecord): Hours {
  const hours: Hours = new Map();
  for (const [hour, workspaceId, { jobs = emptyTally().jobs, ...tally }] of record) {
    const tallies = hours.get(hour) ?? new Map<string, Tally>();
    hours.set(hour, tallies.set(workspaceId, { ...tally, jobs }));
  }
  return hours;
}

function summed(layers: readonly Hours[]): Hours {
  const sum: Hours = new Map();
  for (const hours of layers)
    for (const [hour, workspaceId, tally] of flat(hours)) {
      const tallies = sum.get(hour) ?? new Map<string, Tally>();
      sum.set(hour, tallies);
      const known = tallies.get(workspaceId) ?? emptyTally();
      add(known, tally);
      tallies.set(workspaceId, known);
    }
  return sum;
}

function flat(hours: Hours): SloDump {
  return [...hours].flatMap(([hour, tallies]) =>
    [...tallies].map(([workspaceId, tally]): SloDump[number] => [hour, workspaceId, tally]),
  );
}

function emptyTally(): Tally {
  const zeros = (bounds: readonly number[]): number[] => Array.from({ length: bounds.length + 1 }, () => 0);
  const counts = (): number[] => zeros(LATENCY_BOUNDS_MS);
  return {
    requests: 0,
    failures: 0,
    dead_letters: 0,
    retries: 0,
    codes: {},
    latency: { internal: counts(), external: counts() },
    jobs: zeros(JOB_BOUNDS_MS),
  };
}

/** One more under the first bound that is not below it, or above all of them. */
function count(counts: number[], bounds: readonly number[], value: number): void {
  const at = bounds.findIndex((bound) => value <= bound);
  const i = at < 0 ? bounds.length : at;
  counts[i] = (counts[i] ?? 0) + 1;
}

function add(sum: Tally, { requests, failures, dead_letters, retries, codes, latency, jobs }: Tally): void {
  sum.requests += requests;
  sum.failures += failures;
  sum.dead_letters += dead_letters;
  sum.retries += retries;
  for (const [code, n] of Object.entries(codes)) sum.codes[code] = (sum.codes[code] ?? 0) + n;
  for (const [to, from] of [
    [sum.latency.internal, latency.internal],
    [sum.latency.external, latency.external],
    [sum.jobs, jobs],
  ] as const)
    for (const [i, n] of from.entries()) to[i] = (to[i] ?? 0) + n;
}

/** The value below which the given share lies, read off the bounds as Prometheus does; null when nothing was counted. */
export function quantile(
  counts: readonly number[],
  share: number,
  bounds: readonly number[] = LATENCY_BOUNDS_MS,
): number | null {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  const rank = total * share;
  let below = 0;
  for (const [i, n] of counts.entries()) {
    const low = i === 0 ? 0 : (bounds[i - 1] ?? 0);
    // Above the last bound nothing is known but that it is above.
    const high = bounds[i] ?? low;
    if (n > 0 && below + n >= rank) return low + ((high - low) * (rank - below)) / n;
    below += n;
  }
  return bounds.at(-1) ?? 0;
}
