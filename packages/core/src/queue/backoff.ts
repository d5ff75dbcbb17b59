import type { Chance } from '../clock.ts';

/** How long failures are waited out. */
export interface Backoff {
  /** The longest wait after the first failure; each further one doubles it. */
  firstMs: number;
  maxMs: number;
}

const STEPS = 1_024;

/** The wait after so many failures: it doubles up to a bound, and of it half is chance, so that many do not come back at once. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, chance: Chance): number {
  const whole = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(whole / 2 + (whole / 2) * (chance.below(STEPS) / STEPS));
}
