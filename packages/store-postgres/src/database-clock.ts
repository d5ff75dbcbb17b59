/** The time of the database, as a node keeps it: all nodes of one record go by one clock, whatever their own say. */
export interface DatabaseClock {
  now(): number;
  /** The database has told its time, between two moments of the monotonic clock. */
  heard(time: number, askedAt: number, heardAt: number): void;
}

/** Less is the unevenness of the way, not a difference of clocks: so far may a node be wrong. */
export const DIFFERENCE_MS = 250;
/** An answer that took longer says too little of when it was given. */
const SLOWEST_MS = 1_000;

/** Runs on by the monotonic clock from what the database has told; until then by the wall clock of this machine. */
export function createDatabaseClock(
  monotonic: () => number = () => performance.now(),
  wall: () => number = () => Date.now(),
): DatabaseClock {
  /** The time when the monotonic clock began. */
  let origin: number | undefined;
  return {
    now: () => (origin === undefined ? wall() : Math.round(origin + monotonic())),
    heard(time, askedAt, heardAt) {
      const next = time - (askedAt + heardAt) / 2;
      const isSlow = heardAt - askedAt > SLOWEST_MS;
      if (origin === undefined || (!isSlow && Math.abs(next - origin) > DIFFERENCE_MS)) origin = next;
    },
  };
}
