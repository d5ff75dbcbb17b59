/** Chance that a seed decides. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from 0 to below the bound. */
  below(bound: number): number;
  between(least: number, most: number): number;
  is(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** The same seed gives the same numbers for ever (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    between: (least, most) => least + below(most - least + 1),
    is: (probability) => next() < probability,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
  };
}
