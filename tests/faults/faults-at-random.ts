import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import type { CrashHub } from './crash-hub.ts';
import { holdLock } from './foreign-lock.ts';
import { injectFault } from './strace.ts';

/** What the faults are done to: the hub of the day, its disk and its clock. */
export interface World {
  hub(): CrashHub;
  restart(signal: NodeJS.Signals): Promise<void>;
  folder: string;
  strace: string;
  /** How long the faults last, as a part of their whole time. */
  pace: number;
  /** Sets the hub's wall clock off by so many milliseconds. */
  moveClock(ms: number): void;
}

/** A number in [0, 1), the next of a sequence that its seed fixes. */
export type Random = () => number;

/** Numbers that a seed fixes, so that a schedule of faults can be had again (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const HOUR = 3_600_000;

const last = ({ pace }: World, ms: number): Promise<void> => setTimeout(pace * ms);

type Fault = (world: World, random: Random) => Promise<void>;

/** Fills the disk to the last byte for as long as `during` takes. */
async function onFullDisk({ folder }: World, during: () => Promise<void>): Promise<void> {
  const filler = join(dirname(folder), 'filler');
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(filler, Buffer.alloc(bavail * bsize));
  } catch {
    // The hub took some of it first: full is full.
  }
  try {
    await during();
  } finally {
    rmSync(filler, { force: true });
  }
}

/** Every write to the database file itself fails: the WAL takes commits, nothing can be folded in. */
async function failingCheckpoints(world: World, error: string, ms: number): Promise<void> {
  const path = join(world.folder, 'parley.db');
  const fault = await injectFault(world.strace, world.hub().pid, {
    path,
    inject: `pwrite64,ftruncate:error=${error}`,
  });
  await last(world, ms);
  await fault.lift();
}

/** The kinds of fault by name; each ends with the fault lifted, whatever it did to the hub. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  kill: (world) => world.restart('SIGKILL'),
  stop: async (world, random) => {
    const hub = world.hub();
    hub.signal('SIGSTOP');
    await last(world, 100 + random() * 1_500);
    hub.signal('SIGCONT');
  },
  'full disk': (world, random) => onFullDisk(world, () => last(world, 300 + random() * 1_500)),
  'kill on a full disk': (world) =>
    onFullDisk(world, async () => {
      await last(world, 200);
      await world.restart('SIGKILL');
      await last(world, 500);
    }),
  'clock ahead': async (world, random) => {
    world.moveClock((0.1 + 0.9 * random()) * 60 * 24 * HOUR);
    await last(world, 1_000 + random() * 2_000);
    world.moveClock(0);
  },
  'clock ahead across a kill': async (world, random) => {
    world.moveClock((0.1 + 0.9 * random()) * 60 * 24 * HOUR);
    await last(world, 500);
    await world.restart('SIGKILL');
    await last(world, 1_500);
    world.moveClock(0);
  },
  'clock behind': async (world, random) => {
    world.moveClock(-random() * 2 * HOUR);
    await last(world, 500 + random() * 1_500);
    world.moveClock(0);
  },
  'foreign lock': async (world, random) => {
    // It waits for its own turn at the database for some seconds, and may not get one.
    const release = await holdLock(join(world.folder, 'parley.db')).catch(() => undefined);
    await last(world, 500 + random() * 7_000);
    await release?.();
  },
  'checkpoint without space': (world, random) => failingCheckpoints(world, 'ENOSPC', 500 + random() * 1_500),
  'checkpoint with a broken disk': (world, random) =>
    failingCheckpoints(world, 'EIO', 500 + random() * 1_500),
};
