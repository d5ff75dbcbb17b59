import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing';

/** From this length on, the siblings get short keys again: each insert into one gap makes a key longer. */
export const ORDER_MAX = 128;

/** A key between two siblings; undefined stands for the end of the list. */
export function orderBetween(left: string | undefined, right: string | undefined): string {
  return generateKeyBetween(left ?? null, right ?? null);
}

/** Short keys for so many siblings, in order. */
export function freshOrders(count: number): string[] {
  return generateNKeysBetween(null, null, count);
}
