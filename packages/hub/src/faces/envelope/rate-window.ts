/** What is left to a caller of its minute. */
export interface Allowance {
  limit: number;
  remaining: number;
  /** Milliseconds until the next minute begins; 0 when this call was granted. */
  waitMs: number;
}

const WINDOW_MS = 60_000;
const SWEEP_AT = 10_000;

/** Counts calls by name in minutes that begin with the first of them: never more than the limit is granted in one. */
export function createRateWindow(limit: number, monotonic: () => number): (name: string) => Allowance {
  const windows = new Map<string, { begun: number; used: number }>();
  return (name) => {
    const now = monotonic();
    let window = windows.get(name);
    if (window === undefined || now - window.begun >= WINDOW_MS) {
      if (windows.size >= SWEEP_AT)
        for (const [key, { begun }] of windows) if (now - begun >= WINDOW_MS) windows.delete(key);
      window = { begun: now, used: 0 };
      windows.set(name, window);
    }
    if (window.used >= limit) return { limit, remaining: 0, waitMs: WINDOW_MS - (now - window.begun) };
    window.used += 1;
    return { limit, remaining: limit - window.used, waitMs: 0 };
  };
}
