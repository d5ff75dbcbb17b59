import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 60_000;
const LOOK_MS = 100;

/** Waits for what must come true; throws what did not. */
export async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`not within ${PATIENCE_MS / 1_000} s: ${what}`);
    await sleep(LOOK_MS);
  }
}
