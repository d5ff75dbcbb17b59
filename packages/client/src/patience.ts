import { asError } from '@parley/protocol';
import { ClientError, isTransient } from './client-error.ts';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** Decides between one more try and giving up; it never waits past its bound. */
export interface Patience {
  /** Waits for the next try; throws the failure when it is final or the time is used up. */
  wait(failure: unknown, signal: AbortSignal | undefined): Promise<void>;
  /** Starts afresh after a success. */
  renew(): void;
}

/** Waits that double and scatter, or as long as the hub asked for, within a bound for all of them together. */
export function createPatience(boundMs: number): Patience {
  let started = performance.now();
  let tries = 0;
  return {
    renew() {
      started = performance.now();
      tries = 0;
    },
    async wait(failure, signal) {
      if (!(failure instanceof ClientError) || !isTransient(failure)) throw failure;
      const scattered = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries) * (0.5 + Math.random() / 2);
      const ms = Math.max(scattered, failure.retryAfterMs ?? 0);
      if (performance.now() - started + ms > boundMs) throw failure;
      tries++;
      await sleep(ms, signal);
    },
  };
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(asError(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
