import { ParleyError } from '@parley/protocol';

import type { Command, ResultOf } from '../commands.ts';
import { createFaultReport } from '../fault-report.ts';
import type { Log } from '../log.ts';
import { pause } from '../pause.ts';
import type { Committed, Store } from '../store.ts';
import { within } from '../within.ts';
import { isLeaseLost } from './lease-record.ts';
import type { JobName, Lease, Leases } from './leases.ts';

/** Ends what was begun. */
type End = () => void | Promise<void>;
/** Begins the job under a lease. */
type Begin = (lease: Lease) => Promise<End | void>;

/** A job of the hub: done while this process has its lease, and all that it writes carries that. */
export interface OwnedJob {
  /**
   * Begins it when the lease is there, and anew with each lease after one that was lost; what `begin` gives ends it then,
   * and at the close. Resolves when it has begun, or when it is to wait: for a lease, or until it is tried again.
   */
  start(begin: Begin): Promise<void>;
  readonly isOwned: boolean;
  /** The log as the job writes to it. */
  log(log: Log): Log;
  /** The store as the job writes to it. */
  store(store: Store): Store;
  close(): Promise<void>;
}

const RETRY_MS = 1_000;
/** How long a start and a write wait for a lease that is being taken. */
const WAIT_MS = 1_000;

/** Takes the lease of a job, at once; the job begins with `start`. */
export function createOwnedJob(
  { leases, onFault }: { leases: Leases; onFault: (error: unknown) => void },
  name: JobName,
): OwnedJob {
  const closing = new AbortController();
  const { signal } = closing;
  let lease: Lease | undefined;
  /** Why the last try has failed. */
  let fault: unknown;
  const faults = createFaultReport(onFault);
  let onTaken = (): void => {};
  let taken = new Promise<void>((resolve) => (onTaken = resolve));
  let onStart = (_begin: Begin): void => {};
  const started = new Promise<Begin>((resolve) => (onStart = resolve));
  /** So long after its making nobody waits for the lease any more who only starts it. */
  const patience = pause(WAIT_MS, signal);
  let onTried = (): void => {};
  const tried = new Promise<void>((resolve) => (onTried = resolve));

  function tell(error: unknown): void {
    fault = error;
    onTaken();
    if (!signal.aborted) faults.tell(error);
  }

  /** From the taking of a lease to its end. */
  async function own(): Promise<void> {
    const held = (lease = await leases.take(name, signal));
    fault = undefined;
    onTaken();
    const over = AbortSignal.any([held.lost, signal]);
    let end: End | undefined | void = undefined;
    try {
      const begin = await Promise.race([started, aborted(over)]);
      end = await begin?.(held);
      faults.clear();
      onTried();
      await aborted(over);
    } finally {
      // What is lost is not written with any more; at the close it still is, so that what ends can say how far it came.
      if (held.lost.aborted) lease = undefined;
      taken = new Promise<void>((resolve) => (onTaken = resolve));
      await end?.();
      lease = undefined;
      await held.release();
    }
    if (held.lost.aborted && !signal.aborted)
      throw new ParleyError('CONFLICT', `the lease of "${name}" was lost; it is taken anew`);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await own().catch(tell);
      onTried();
      await pause(RETRY_MS, signal);
    }
  }

  async function carry<C extends Command>(
    write: (command: C) => Promise<Committed<ResultOf<C['type']>>>,
    command: C,
  ): Promise<Committed<ResultOf<C['type']>>> {
    if (lease === undefined && fault === undefined) await within(taken, WAIT_MS);
    const held = lease;
    if (held === undefined)
      throw (
        fault ??
        new ParleyError('UNAVAILABLE', `it is another's to see to ${name}, or not known yet whose; retry`)
      );
    try {
      return await write({ ...command, fence: held.fence });
    } catch (error) {
      if (isLeaseLost(error)) held.lose();
      throw error;
    }
  }

  const running = run();
  return {
    async start(begin) {
      onStart(begin);
      await Promise.race([taken, patience]);
      if (lease !== undefined) await tried;
    },
    get isOwned() {
      return lease !== undefined;
    },
    log: (log) => ({ ...log, append: (command) => carry((one) => log.append(one), command) }),
    store: (store) => ({ ...store, transact: (command) => carry((one) => store.transact(one), command) }),
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** Resolves when a signal aborts. */
function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
