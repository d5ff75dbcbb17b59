/** What is left to a caller of its minute. */
export interface Allowance {
  limit: number;
  remaining: number;
  /** Milliseconds until the next minute begins; 0 when this call was granted. */
  waitMs: number;
  /** When its minute began. */
  begun: number;
}

const WINDOW_MS = 60_000;
const SWEEP_AT = 10_000;

/** Counts calls by name in minutes that begin with the first of them: never more than the limit is granted in one. */
export interface RateWindow {
  spend: (name: string) => Allowance;
  /** So many were granted elsewhere in this minute, or given back there where it is less than nothing. */
  charge: (name: string, times: number) => void;
  /** Takes back what was granted for a call that another limit has refused. */
  giveBack: (name: string, granted: Allowance) => Allowance;
}

export function createRateWindow(limit: number, monotonic: () => number): RateWindow {
  const windows = new Map<string, { begun: number; used: number }>();

  function windowOf(name: string, now: number): { begun: number; used: number } {
    let window = windows.get(name);
    if (window !== undefined && now - window.begun < WINDOW_MS) return window;
    if (windows.size >= SWEEP_AT)
      for (const [key, { begun }] of windows) if (now - begun >= WINDOW_MS) windows.delete(key);
    window = { begun: now, used: 0 };
    windows.set(name, window);
    return window;
  }

  return {
    spend(name) {
      const now = monotonic();
      const window = windowOf(name, now);
      if (window.used >= limit)
        return { limit, remaining: 0, waitMs: WINDOW_MS - (now - window.begun), begun: window.begun };
      window.used += 1;
      return { limit, remaining: limit - window.used, waitMs: 0, begun: window.begun };
    },
    charge(name, times) {
      const window = windowOf(name, monotonic());
      window.used = Math.max(0, window.used + times);
    },
    giveBack(name, granted) {
      const window = windowOf(name, monotonic());
      // The next minute owes nothing to one that was granted before it.
      if (window.begun === granted.begun) window.used = Math.max(0, window.used - 1);
      return { limit, remaining: Math.max(0, limit - window.used), waitMs: 0, begun: window.begun };
    },
  };
}
