import { expect } from 'vitest';

/** An operation as its caller saw it: from the moment it was sent to the moment its answer was there. */
export interface Operation {
  from: number;
  to: number;
}

/** A post that was given this seq. */
export interface Appended extends Operation {
  seq: number;
}

/** A read that saw the log up to this seq. */
export interface Seen extends Operation {
  last: number;
}

/**
 * Posts that each name their place make linearizability plain: an operation that ended before another began must
 * stand before it in the log, and every read lies between the posts it saw and those it did not.
 */
export function expectLinearizable(appends: readonly Appended[], reads: readonly Seen[]): void {
  const bySeq = appends.toSorted((a, b) => a.seq - b.seq);
  /** Latest moment at which any post up to a seq was sent; earliest at which any from a seq on was answered. */
  const sentUpTo: number[] = [];
  const answeredFrom: number[] = [];
  for (const [i, { from }] of bySeq.entries()) sentUpTo[i] = Math.max(from, sentUpTo[i - 1] ?? -Infinity);
  for (let i = bySeq.length - 1; i >= 0; i--)
    answeredFrom[i] = Math.min(bySeq[i]!.to, answeredFrom[i + 1] ?? Infinity);
  const swapped = bySeq.filter((_, i) => (sentUpTo[i] ?? 0) > (answeredFrom[i + 1] ?? Infinity));
  expect(swapped).toEqual([]);

  const late = reads.filter(({ last, from }) => (answeredFrom[last] ?? Infinity) < from);
  expect(late).toEqual([]);
  const early = reads.filter(({ last, to }) => last > 0 && (bySeq[last - 1]?.from ?? Infinity) > to);
  expect(early).toEqual([]);
  const fallen = reads.filter((read) => reads.some(({ to, last }) => to < read.from && last > read.last));
  expect(fallen).toEqual([]);
}
