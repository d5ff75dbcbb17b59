/** The workspace of whoever names none. */
export const WORKSPACE = 'default';

/** How patiently a text waits for a person and for a program, in milliseconds. */
export const TERMINAL = {
  quiet_ms: 20_000,
  recheck_ms: 5_000,
  max_defer_ms: 60_000,
  expire_ms: 3_600_000,
} as const;

/** Whose tokens they are, and how long the longest lives (31 days). */
export const AUTH = { issuer: 'parley', audience: 'parley', max_lifetime_ms: 2_678_400_000 } as const;
