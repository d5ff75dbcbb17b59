import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { cosine, VectorArena } from './vectors.ts';

/** No multiple of what the scanner takes at once. */
const DIMENSIONS = 37;

const Vector = fc
  .array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: DIMENSIONS, maxLength: DIMENSIONS })
  .map((values) => {
    const length = Math.hypot(...values) || 1;
    return Float32Array.from(values, (x) => x / length);
  });

test('[KNOW-17] the nearest are those of the exact comparison, whatever came and went', () => {
  const Parts = fc.array(Vector, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      fc.array(Parts, { minLength: 2, maxLength: 20 }),
      Parts,
      Vector,
      fc.nat(19),
      fc.nat(19),
      (passages, others, asked, gone, changed) => {
        const arena = new VectorArena(DIMENSIONS);
        for (const [i, parts] of passages.entries()) arena.put(i, parts);
        const [dropped, other] = [gone % passages.length, changed % passages.length];
        arena.put(other, others);
        arena.drop(dropped);
        arena.drop(dropped);
        const there = passages.map((parts, i) => (i === other ? others : parts));
        const scores = there.map((parts, i) =>
          i === dropped ? [] : parts.map((one) => cosine(asked, one)).toSorted((a, b) => b - a),
        );
        const rest = scores.flat().toSorted((a, b) => b - a);
        expect(arena.size).toBe(rest.length);
        const near = arena.nearest(asked, 5);
        expect(near).toHaveLength(Math.min(5, rest.length));
        // A byte per number is right to a few thousandths.
        for (const [i, { passage }] of near.entries()) {
          const nth = near.slice(0, i).filter((one) => one.passage === passage).length;
          expect(Math.abs((scores[passage]?.[nth] ?? 9) - (rest[i] ?? 9))).toBeLessThan(0.02);
        }
        const only = new Set([...passages.keys()].slice(0, 1));
        expect(arena.nearest(asked, 5, only).every(({ passage }) => only.has(passage))).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

test('[KNOW-17] many are compared as exactly as few: memory grows and blocks follow each other', () => {
  const arena = new VectorArena(3);
  const count = 10_000;
  for (let i = 0; i < count; i++)
    arena.put(i, [Float32Array.of(Math.cos(i / count), Math.sin(i / count), 0)]);
  for (let i = 0; i < count; i += 2) arena.drop(i);
  expect(arena.size).toBe(count / 2);
  const asked = 0.7;
  const near = arena.nearest(Float32Array.of(Math.cos(asked), Math.sin(asked), 0), 50);
  for (const { passage } of near) expect(Math.abs(passage / count - asked)).toBeLessThan(0.2);
  expect(near.every(({ passage }) => passage % 2 === 1)).toBe(true);
});
