import { type Caller, ParleyError } from '@parley/protocol';

import type { Clock } from './clock.ts';

export interface QuotaLimits {
  per_minute: number;
  burst: number;
}

/** A token bucket per name; full buckets are forgotten, so that memory is bounded by who is active. */
export interface Quota {
  /** Milliseconds until one more is allowed; 0 when it was taken. */
  take(name: string): number;
}

const SWEEP_AT = 10_000;

/** Buckets that refill on the monotonic clock: a jump of the wall clock changes nothing. */
export function createQuota(limits: QuotaLimits, clock: Clock): Quota {
  const perMs = limits.per_minute / 60_000;
  const bucketsByName = new Map<string, { level: number; at: number }>();

  function sweep(now: number): void {
    for (const [name, bucket] of bucketsByName) {
      if (bucket.level + (now - bucket.at) * perMs >= limits.burst) bucketsByName.delete(name);
    }
  }

  return {
    take(name) {
      const now = clock.monotonic();
      let bucket = bucketsByName.get(name);
      if (bucket === undefined) {
        if (bucketsByName.size >= SWEEP_AT) sweep(now);
        bucket = { level: limits.burst, at: now };
        bucketsByName.set(name, bucket);
      }
      bucket.level = Math.min(limits.burst, bucket.level + (now - bucket.at) * perMs);
      bucket.at = now;
      if (bucket.level < 1) return Math.max(1, Math.ceil((1 - bucket.level) / perMs));
      bucket.level -= 1;
      return 0;
    },
  };
}

/** The message quota of every caller: refuses what goes beyond it. */
export interface MessageQuota {
  spend(caller: Caller): void;
}

/** Counts messages by agent and workspace. */
export function createMessageQuota(limits: QuotaLimits, clock: Clock): MessageQuota {
  const quota = createQuota(limits, clock);
  return {
    spend({ workspace_id, agent_id }) {
      const wait = quota.take(`${workspace_id} ${agent_id}`);
      if (wait > 0) throw rateLimited('your message quota is used up', wait);
    },
  };
}

/** The refusal of a caller over its quota, with the moment to come back. */
export function rateLimited(what: string, waitMs: number): ParleyError {
  return new ParleyError('RATE_LIMITED', `${what}; retry in ${waitMs} ms`, { retry_after_ms: waitMs });
}
