import { type Command, type Committed, openMemoryStore, type ResultOf, type Store } from '@parley/core';
import { ParleyError } from '@parley/protocol';

import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What is wrong with the disk just now. */
export type Trouble =
  /** Takes no write. */
  | 'refuses'
  /** Takes long. */
  | 'late'
  /** Answers with an error, whether it has written or not. */
  | 'unknown'
  /** Some reads fail. */
  | 'unreadable'
  /** Writes and never answers. */
  | 'silent';

/** A disk that outlives nodes, and fails as disks do. */
export interface FaultyDisk {
  /** What is durable, for those who check. */
  truth: Store;
  trouble: Trouble | undefined;
  /** The store of one node. */
  open(): Store;
  /** The node dies: what was on its way to the disk is there whole, or not at all; nobody ever hears of it. */
  crash(isWritten: boolean): void;
}

/** What the disk says where nothing in the hub is at fault. */
export class DiskError extends Error {}

interface Waiting {
  command: Command;
  resolve: (committed: never) => void;
  reject: (error: unknown) => void;
}

interface Life {
  isOver: boolean;
  queue: Waiting[];
  /** What is on its way to the disk. */
  batch: Waiting[];
  isBusy: boolean;
}

const never = new Promise<never>(() => {});

/** Commands that come while it writes are the next batch: decided in order, synced and answered together. */
export function createFaultyDisk(time: VirtualTime, random: Random): FaultyDisk {
  const truth = openMemoryStore(time.now);
  let life: Life = { isOver: true, queue: [], batch: [], isBusy: false };

  const wait = (ms: number): Promise<void> => new Promise((resolve) => void time.after(ms, resolve));
  const fault = (): Error =>
    random.is(0.5)
      ? new DiskError('input/output error')
      : new ParleyError('UNAVAILABLE', 'the disk does not answer');

  async function read<T>(own: Life, run: () => Promise<T>): Promise<T> {
    if (disk.trouble === 'unreadable' && random.is(0.5)) {
      await wait(1);
      throw fault();
    }
    // A read is of some moment between its question and its answer.
    if (random.is(0.15)) await wait(random.between(1, 3));
    const found = await run();
    if (random.is(0.15)) await wait(random.between(1, 3));
    return own.isOver ? never : found;
  }

  async function write(own: Life): Promise<void> {
    own.isBusy = true;
    while (own.queue.length > 0 && !own.isOver) {
      own.batch = own.queue.splice(0);
      await wait(disk.trouble === 'late' ? random.between(1_000, 40_000) : random.between(1, 8));
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- It may have died while it waited.
      if (own.isOver) return;
      const { batch } = own;
      own.batch = [];
      await answer(own, batch);
    }
    own.isBusy = false;
  }

  async function answer(own: Life, batch: readonly Waiting[]): Promise<void> {
    const { trouble } = disk;
    const isLost = trouble === 'unknown' && random.is(0.5);
    const error = trouble === 'unknown' ? fault() : undefined;
    const decided = isLost
      ? []
      : await Promise.allSettled(batch.map(({ command }) => truth.transact(command)));
    if (trouble === 'silent' || own.isOver) return;
    for (const [i, { resolve, reject }] of batch.entries()) {
      const one = decided[i];
      if (error !== undefined || one === undefined) reject(error);
      else if (one.status === 'fulfilled') resolve(one.value as never);
      else reject(one.reason);
    }
  }

  const disk: FaultyDisk = {
    truth,
    trouble: undefined,
    crash(isWritten) {
      life.isOver = true;
      // What the rules refuse nobody hears of either.
      if (isWritten) for (const { command } of life.batch) truth.transact(command).catch(() => {});
    },
    open() {
      const own: Life = { isOver: false, queue: [], batch: [], isBusy: false };
      life = own;
      const from =
        <Q, T>(run: (query: Q) => Promise<T>) =>
        (query: Q) =>
          read(own, () => run(query));
      return {
        ...truth,
        page: from((query) => truth.page(query)),
        tail: from((query) => truth.tail(query)),
        cursors: (...about) => read(own, () => truth.cursors(...about)),
        threads: from((query) => truth.threads(query)),
        agents: from((query) => truth.agents(query)),
        records: (query) => read(own, () => truth.records(query)),
        workspace: from((query) => truth.workspace(query)),
        position: from((query) => truth.position(query)),
        heads: from((query) => truth.heads(query)),
        reading: (...about) => read(own, () => truth.reading(...about)),
        references: (...about) => read(own, () => truth.references(...about)),
        async transact<C extends Command>(command: C): Promise<Committed<ResultOf<C['type']>>> {
          if (own.isOver) return never;
          if (disk.trouble === 'refuses') {
            await wait(1);
            // oxlint-disable-next-line typescript/no-unnecessary-condition -- It may have died while it waited.
            if (own.isOver) return never;
            throw new ParleyError('UNAVAILABLE', 'the disk takes no writes');
          }
          return new Promise((resolve, reject) => {
            own.queue.push({ command: structuredClone(command), resolve, reject });
            if (!own.isBusy) void write(own);
          });
        },
      };
    },
  };
  return disk;
}
