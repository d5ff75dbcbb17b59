import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/** What to do about a failure: another try, or no more. */
export type Judge = (error: unknown) => 'again' | 'give_up';

/** Tries until it succeeds, with growing waits; undefined when it is given up, by the judge or by the signal. */
export async function retry<T>(
  run: () => Promise<T>,
  judge: Judge,
  signal: AbortSignal,
): Promise<T | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (judge(error) === 'give_up') return undefined;
    }
    const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries, 10));
    const rested = await sleep(most * (0.5 + Math.random() / 2), true, { signal }).catch(() => false);
    if (!rested) return undefined;
  }
}
