import { onAbort } from '../on-abort.ts';
import type { Force, Wake } from './wake.ts';

/** A wake that is under way, and all who wait to hear what becomes of it. */
export interface Flight {
  /** The next thing that becomes of it; a wake that is deferred is told at once, unless one waits for more. */
  outcome(awaitMore?: boolean): Promise<Wake>;
  tell(wake: Wake | Error): void;
  readonly recorded: Promise<void>;
  /** It is on record; told with the wake where it goes on. */
  onRecord(wake?: Wake): void;
  /** The hub stops before it was on record: whoever waits for that must come again. */
  offRecord(error: unknown): void;
  /** How it stands just now, on record and not yet told. */
  readonly standing: Wake | undefined;
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
  let standing: Wake | undefined;
  let onRecord = (): void => {};
  let offRecord = (_error: unknown): void => {};
  const recorded = new Promise<void>((resolve, reject) => ([onRecord, offRecord] = [resolve, reject]));
  // Not everybody waits for it.
  recorded.catch(() => {});
  return {
    recorded,
    offRecord: (error) => offRecord(error),
    onRecord(wake) {
      standing = wake;
      onRecord();
    },
    get standing() {
      return standing;
    },
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
          stay();
          rouse = () => {};
          resolve();
        };
        const timer = setTimeout(done, ms);
        rouse = done;
        const stay = onAbort(signal, done);
      });
    },
  };
}
