import { type Caller, type Cost, ParleyError } from '@parley/protocol';

import type { Clock } from './clock.ts';

export interface QuotaLimits {
  per_minute: number;
  burst: number;
}

/** What each name may do in a time; who is not active is forgotten, so that memory is bounded by who is. */
export interface Quota {
  /** Milliseconds until one more is allowed; 0 when it was taken. */
  take(name: string): number;
  /** So many were taken elsewhere: they are not there to be taken here. */
  readonly charge: (name: string, times: number) => void;
}

const SWEEP_AT = 10_000;

/** A token bucket per name, refilled by the monotonic clock: a jump of the wall clock changes nothing. */
export function createQuota(limits: QuotaLimits, clock: Clock): Quota {
  const perMs = limits.per_minute / 60_000;
  const bucketsByName = new Map<string, { level: number; at: number }>();

  function sweep(now: number): void {
    for (const [name, bucket] of bucketsByName) {
      if (bucket.level + (now - bucket.at) * perMs >= limits.burst) bucketsByName.delete(name);
    }
  }

  function bucketOf(name: string): { level: number; at: number } {
    const now = clock.monotonic();
    let bucket = bucketsByName.get(name);
    if (bucket === undefined) {
      if (bucketsByName.size >= SWEEP_AT) sweep(now);
      bucket = { level: limits.burst, at: now };
      bucketsByName.set(name, bucket);
    }
    bucket.level = Math.min(limits.burst, bucket.level + (now - bucket.at) * perMs);
    bucket.at = now;
    return bucket;
  }

  return {
    charge(name, times) {
      const bucket = bucketOf(name);
      // Nobody owes more than a whole burst.
      bucket.level = Math.max(-limits.burst, bucket.level - times);
    },
    take(name) {
      const bucket = bucketOf(name);
      if (bucket.level < 1) return Math.max(1, Math.ceil((1 - bucket.level) / perMs));
      bucket.level -= 1;
      return 0;
    },
  };
}

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/**
 * At most so many in any minute, of which at most a burst in any second: each is remembered until its minute is over,
 * so that no moment is found from which more were let through.
 */
export function createWindow({ per_minute, burst }: QuotaLimits, clock: Clock): Quota {
  const takenByName = new Map<string, number[]>();

  function sweep(now: number): void {
    for (const [name, taken] of takenByName)
      if ((taken.at(-1) ?? 0) + MINUTE_MS <= now) takenByName.delete(name);
  }

  function takenOf(name: string, now: number): number[] {
    let taken = takenByName.get(name);
    if (taken === undefined) {
      if (takenByName.size >= SWEEP_AT) sweep(now);
      takenByName.set(name, (taken = []));
    }
    // Half of them at a time: to shift one by one would cost as much as there are.
    if (taken.length > 2 * per_minute) taken.splice(0, per_minute);
    return taken;
  }

  return {
    charge(name, times) {
      const now = clock.monotonic();
      const taken = takenOf(name, now);
      for (let i = 0; i < Math.min(times, per_minute); i++) taken.push(now);
    },
    take(name) {
      const now = clock.monotonic();
      const taken = takenOf(name, now);
      const until = (before: number, ms: number): number => (taken.at(-before) ?? -Infinity) + ms;
      const free = Math.max(until(per_minute, MINUTE_MS), until(burst, SECOND_MS));
      if (free > now) return Math.max(1, Math.ceil(free - now));
      taken.push(now);
      return 0;
    },
  };
}

/** How much one caller may do, by kind, and how much it may have open at once. */
export type QuotaSettings = Record<Cost, QuotaLimits> & { open: number };

/** The quotas of every caller, an agent of a workspace: refuses what goes beyond them. */
export interface Quotas {
  /** Counts a call as what it is; what is refused is counted as nothing, and no kind takes from another. */
  spend(caller: Caller, cost: Cost): void;
  /** Takes a place for a call or a stream until the returned function gives it back. */
  hold(caller: Caller): () => void;
}

/** How long one waits who has too much open. */
const FULL_MS = 1_000;

/** Counts by agent and workspace: namesakes elsewhere share nothing. `share` tells other nodes of what is taken, by kind. */
export function createQuotas(
  settings: QuotaSettings,
  clock: Clock,
  share: (kind: string, quota: Quota) => Quota = (_kind, quota) => quota,
): Quotas {
  const { open: most, ...limits } = settings;
  const quotas: Record<Cost, Quota> = {
    message: share('message', createQuota(limits.message, clock)),
    write: share('write', createQuota(limits.write, clock)),
    search: share('search', createQuota(limits.search, clock)),
  };
  const openByName = new Map<string, number>();
  return {
    spend(caller, cost) {
      const wait = quotas[cost].take(nameOf(caller));
      if (wait > 0) throw rateLimited(`your ${cost} quota is used up`, wait);
    },
    hold(caller) {
      const name = nameOf(caller);
      const open = openByName.get(name) ?? 0;
      if (open >= most)
        throw rateLimited(`${most} calls and streams of yours are open; end some first`, FULL_MS);
      openByName.set(name, open + 1);
      return () => {
        const left = (openByName.get(name) ?? 1) - 1;
        if (left > 0) openByName.set(name, left);
        else openByName.delete(name);
      };
    },
  };
}

function nameOf({ workspace_id, agent_id }: Caller): string {
  return `${workspace_id} ${agent_id}`;
}

/** The refusal of a caller over its quota, with the moment to come back. */
export function rateLimited(what: string, waitMs: number): ParleyError {
  return new ParleyError('RATE_LIMITED', `${what}; retry in ${waitMs} ms`, { retry_after_ms: waitMs });
}
