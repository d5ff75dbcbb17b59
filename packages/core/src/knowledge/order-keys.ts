import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing';

/** Beyond this length a document and those around it get short keys: each insert into one gap makes a key longer. */
export const ORDER_MAX = 128;

/** A key between two siblings; undefined stands for the end of the list. */
export function orderBetween(left: string | undefined, right: string | undefined): string {
  return generateKeyBetween(left ?? null, right ?? null);
}

/** Short keys for so many siblings between two others, in order. */
export function ordersBetween(left: string | undefined, right: string | undefined, count: number): string[] {
  return generateNKeysBetween(left ?? null, right ?? null, count);
}
