import type { Force, Wake } from './wake.ts';

/** A wake that is under way, and all who wait to hear what becomes of it. */
export interface Flight {
  /** The next thing that becomes of it; a wake that is deferred is told at once, unless one waits for more. */
  outcome(awaitMore?: boolean): Promise<Wake>;
  tell(wake: Wake | Error): void;
  readonly recorded: Promise<void>;
  onRecord(): void;
  /** An operator insists: whoever sleeps is roused. */
  insist(force: Force): void;
  readonly force: Force | undefined;
  /** Sleeps until the time is up, somebody insists, or the signal ends it. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** One flight per thread and target, however many ask for it. */
export function createFlight(): Flight {
  const waiting: { resolve: (wake: Wake) => void; reject: (error: unknown) => void }[] = [];
  let deferred: Wake | undefined;
  let force: Force | undefined;
  let rouse = (): void => {};
  let onRecord = (): void => {};
  const recorded = new Promise<void>((resolve) => (onRecord = resolve));
  return {
    recorded,
    onRecord: () => onRecord(),
    outcome(awaitMore = false) {
      if (deferred !== undefined && !awaitMore) return Promise.resolve(deferred);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    tell(wake) {
      const isError = wake instanceof Error;
      deferred = !isError && wake.state === 'deferred' ? wake : undefined;
      for (const { resolve, reject } of waiting.splice(0)) {
        if (isError) reject(wake);
        else resolve(wake);
      }
    },
    insist(said) {
      force = said;
      rouse();
    },
    get force() {
      return force;
    },
    sleep(ms, signal) {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          rouse = () => {};
          resolve();
        };
        const timer = setTimeout(done, ms);
        rouse = done;
        signal.addEventListener('abort', done);
      });
    },
  };
}
