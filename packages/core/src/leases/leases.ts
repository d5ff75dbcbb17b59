import { ParleyError } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import { commandHead } from '../command-head.ts';
import type { ResultOf } from '../commands.ts';
import { hubCaller, OWN_WORKSPACE } from '../hub-caller.ts';
import { pause } from '../pause.ts';
import type { Store } from '../store.ts';
import type { Fence } from './lease-record.ts';

/** What the hub does of itself; each has one owner at a time. */
export type JobName =
  | 'asks'
  | 'clock'
  | 'forgetting'
  | 'keys'
  | 'mutes'
  | 'nonces'
  | 'notifications'
  | 'queue'
  | 'states'
  | 'tree'
  | 'usage'
  /** With the one who follows the calls: it hands them to the waker of its own process. */
  | 'wakes';

/** The right to do a job, as long as nobody else has got it. */
export interface Lease {
  readonly fence: Fence;
  /** When whoever had it before was last there, by the store's time; undefined where that is not on record. */
  readonly lastHeld: number | undefined;
  /** Aborts once another has it, or may have it. */
  readonly lost: AbortSignal;
  /** The store has refused it. */
  lose(): void;
  release(): Promise<void>;
}

/** Gives each job to one process at a time. */
export interface Leases {
  /** Resolves once the job is this one's; throws what keeps the store from writing it down, or when the signal ends it. */
  take(job: JobName, signal: AbortSignal): Promise<Lease>;
  /** The process that does a job, as it is on record; undefined while nobody does. */
  ownerOf(job: JobName): Promise<string | undefined>;
}

export interface LeasesDeps {
  store: Pick<Store, 'transact' | 'records'>;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  chance: Chance;
  /**
   * How long a lease outlives its owner. Without it no other process can have the store open: all jobs are one lease,
   * which comes with the store and is never renewed.
   */
  ttlMs?: number;
  /** The name of this process; one that nobody else has. */
  owner?: string;
}

/** The lease of a process that has the store for itself. */
const EVERYTHING = 'hub';
/** It is renewed, and asked for again, so many times while it lasts. */
const TIMES = 3;
const RETRY_MS = 1_000;

/** Leases on record, in the store that the owners write to: it alone knows whose write comes after whose. */
export function createLeases(deps: LeasesDeps): Leases {
  const { store, clock, chance, ttlMs } = deps;
  const { owner = Buffer.from(chance.bytes(12)).toString('hex') } = deps;

  async function write(name: string): Promise<ResultOf<'take_lease'>> {
    const input = { name, owner, ...(ttlMs === undefined ? {} : { ttl_ms: ttlMs }) };
    const head = commandHead(deps, hubCaller(OWN_WORKSPACE));
    return (await store.transact({ type: 'take_lease', ...head, input })).result;
  }

  /** Undefined while another has it. */
  function tryWrite(name: string): Promise<ResultOf<'take_lease'> | undefined> {
    return write(name).catch((error: unknown) => {
      if (error instanceof ParleyError && error.code === 'CONFLICT') return undefined;
      throw error;
    });
  }

  /** Keeps a lease; calls `lose` when another has it, or nothing was heard of the store for as long as it lasts. */
  function keep({ lease, epoch }: Fence, forMs: number, lose: () => void): () => void {
    let heardAt = clock.monotonic();
    const renew = async (): Promise<void> => {
      const askedAt = clock.monotonic();
      const now = await tryWrite(lease).catch(() => null);
      const isOurs = now?.epoch === epoch;
      if (isOurs) heardAt = askedAt;
      if ((now !== null && !isOurs) || clock.monotonic() - heardAt >= forMs) lose();
    };
    const timer = setInterval(() => void renew(), forMs / TIMES).unref();
    return () => clearInterval(timer);
  }

  return {
    async ownerOf(job) {
      const name = ttlMs === undefined ? EVERYTHING : job;
      const query = { kind: 'lease', workspace_id: OWN_WORKSPACE, keys: [name], limit: 1 } as const;
      return (await store.records(query))[0]?.owner || undefined;
    },
    async take(job, signal) {
      const name = ttlMs === undefined ? EVERYTHING : job;
      for (;;) {
        const taken = signal.aborted ? undefined : await tryWrite(name);
        if (signal.aborted) throw new ParleyError('UNAVAILABLE', 'the hub is stopping');
        if (taken === undefined) {
          await pause(ttlMs === undefined ? RETRY_MS : ttlMs / TIMES, signal);
          continue;
        }
        const { epoch, last_held } = taken;
        const fence = { lease: name, epoch };
        const losing = new AbortController();
        const stop = ttlMs === undefined ? () => {} : keep(fence, ttlMs, () => lose());
        const lose = (): void => {
          stop();
          losing.abort();
        };
        return {
          fence,
          lastHeld: last_held === undefined ? undefined : Date.parse(last_held),
          lost: losing.signal,
          lose,
          async release() {
            lose();
            if (ttlMs === undefined) return;
            const head = commandHead(deps, hubCaller(OWN_WORKSPACE));
            await store.transact({ type: 'release_lease', ...head, input: { name, owner } });
          },
        };
      }
    },
  };
}
