import { pause } from './pause.ts';

/** How long it rests after the first failure; each time twice as long, up to the second: a store that is back is noticed soon. */
const FIRST_PAUSE_MS = 1_000;
const MOST_PAUSE_MS = 4_000;

/**
 * Does it until it succeeds, or until the signal ends it with the last error. Each error in between is told; who is told
 * of it gives up by throwing.
 */
export async function keepTrying<T>(
  run: () => Promise<T>,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<T> {
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, MOST_PAUSE_MS)) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted) throw error;
      onError(error);
      await pause(ms, signal);
    }
  }
}
