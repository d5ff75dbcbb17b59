import { onAbort } from './on-abort.ts';

/** Waits for a time, or until the signal ends it. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stay();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const stay = onAbort(signal, done);
  });
}
