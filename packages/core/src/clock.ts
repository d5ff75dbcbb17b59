/** Time and chance as the hub sees them, passed in so that tests and simulations can hold them still. */
export interface Clock {
  /** Wall-clock milliseconds: for what people and records read. */
  now: () => number;
  /** Milliseconds that never jump: for limits and waiting. */
  monotonic: () => number;
  /** Wall-clock milliseconds that have surely passed, whatever the clock says: for what cannot be undone. */
  trusted: () => number;
}

export interface Chance {
  /** Random bytes for ids. */
  bytes: (count: number) => Uint8Array;
  /** A random whole number from 0 to below the bound. */
  below: (bound: number) => number;
}
