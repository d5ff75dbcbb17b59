import type { TurnUsage } from '@parley/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { type Price, sumOf, type UsageRecord, withTurn } from './usage-sums.ts';

const named = { workspace_id: 'w', day: '2030-01-01', agent_id: 'a', model: 'gpt-5.5' };
const tokens = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined });
const turn: fc.Arbitrary<TurnUsage> = fc
  .record({
    input_tokens: tokens,
    output_tokens: tokens,
    reasoning_tokens: tokens,
    cost_usd: fc.option(
      fc.integer({ min: 0, max: 5_000_000 }).map((micros) => micros / 1e6),
      { nil: undefined },
    ),
  })
  .map(({ input_tokens, ...rest }) => ({
    ...rest,
    input_tokens,
    ...(input_tokens === undefined ? {} : { cached_input_tokens: Math.floor(input_tokens / 3) }),
  }));
const PRICES: Price[] = [
  { model: 'gpt', input_usd: 9, output_usd: 9 },
  { model: 'gpt-5', input_usd: 2, cached_input_usd: 0.2, output_usd: 8 },
];

const kept = (turns: readonly TurnUsage[]): UsageRecord[] => {
  let record: UsageRecord | undefined;
  for (const one of turns) record = withTurn(record, named, one);
  return record === undefined ? [] : [record];
};

test('a day is the sum of its turns, whatever their order and however they were reported', () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 30 }), (turns) => {
      const sum = sumOf(kept(turns), []);
      expect(sum).toEqual(sumOf(kept(turns.toReversed()), []));
      const total = (field: 'input_tokens' | 'output_tokens'): number =>
        turns.reduce((all, one) => all + (one[field] ?? 0), 0);
      expect([sum.turns, sum.input_tokens, sum.output_tokens]).toEqual([
        turns.length,
        total('input_tokens'),
        total('output_tokens'),
      ]);
      const costs = turns.flatMap(({ cost_usd }) => (cost_usd === undefined ? [] : [cost_usd]));
      if (costs.length === 0) expect(sum.cost_reported_usd).toBeNull();
      else
        expect(sum.cost_reported_usd).toBeCloseTo(
          costs.reduce((all, one) => all + one, 0),
          6,
        );
      expect(sum.cost_priced_usd).toBeNull();
      expect(sum.turns_without_cost).toBe(turns.length - costs.length);
    }),
  );
});

test('a price is for turns without a reported cost alone, by the longest name that fits', () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 30 }), (turns) => {
      const priced = turns.filter(
        (one) =>
          one.cost_usd === undefined && (one.input_tokens !== undefined || one.output_tokens !== undefined),
      );
      const micros = priced.reduce(
        (all, { input_tokens = 0, cached_input_tokens = 0, output_tokens = 0 }) => {
          return (
            all + (input_tokens - cached_input_tokens) * 2 + cached_input_tokens * 0.2 + output_tokens * 8
          );
        },
        0,
      );
      const sum = sumOf(kept(turns), PRICES);
      if (priced.length === 0) expect(sum.cost_priced_usd).toBeNull();
      else expect(sum.cost_priced_usd).toBeCloseTo(micros / 1e6, 5);
      expect(sum.cost_reported_usd).toEqual(sumOf(kept(turns), []).cost_reported_usd);
      const told = turns.filter(({ cost_usd }) => cost_usd !== undefined).length;
      expect(sum.turns_without_cost).toBe(turns.length - told - priced.length);
    }),
  );
});

test('a model that no price names has none', () => {
  const record = withTurn(undefined, { ...named, model: 'claude-x' }, { input_tokens: 5 });
  expect(sumOf([record], PRICES)).toMatchObject({ cost_priced_usd: null, turns_without_cost: 1 });
});
