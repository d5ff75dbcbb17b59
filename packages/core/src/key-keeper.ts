import type { Clock } from './clock.ts';
import type { Store } from './store.ts';

/** At least so often, and at most. */
const MOST_MS = 60_000;
const LEAST_MS = 500;

/** Has the store forget idempotency keys whose window has passed, again and again; the answer ends it. */
export function keepForgettingKeys(store: Store, clock: Clock, windowMs: number): () => void {
  const forget = (): void => store.forgetKeys(clock.trusted() - windowMs);
  const timer = setInterval(forget, Math.min(MOST_MS, Math.max(LEAST_MS, windowMs / 4))).unref();
  return () => clearInterval(timer);
}
