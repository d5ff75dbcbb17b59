import type { UsageSum } from '@parley/protocol';

import { plural } from '../words.ts';

const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** A count of tokens as people say it. */
export const tokenWords = (count: number): string => short.format(count);

/** Dollars; cents alone would hide what a small turn costs. */
export function money(dollars: number): string {
  const digits = dollars === 0 || dollars >= 0.1 ? 2 : 4;
  return `$${dollars.toFixed(digits).replace(/(\.\d\d+?)0+$/, '$1')}`;
}

/** What something cost and by whose word; what nobody said is not guessed. */
export function costWords({
  cost_reported_usd,
  cost_priced_usd,
  turns,
  turns_without_cost,
}: UsageSum): string {
  const parts = [
    ...(cost_reported_usd === null ? [] : [`${money(cost_reported_usd)} reported`]),
    ...(cost_priced_usd === null ? [] : [`${money(cost_priced_usd)} by your prices`]),
  ];
  if (parts.length === 0) return 'cost not reported';
  const rest =
    turns_without_cost === 0 ? '' : `, ${turns_without_cost} of ${plural(turns, 'turn')} without a cost`;
  return parts.join(' + ') + rest;
}

/** All tokens of a sum: what was read and what was written. */
export const tokensOf = ({ input_tokens, output_tokens }: UsageSum): number => input_tokens + output_tokens;

/** True where no runtime has told any tokens. */
export const isUntold = ({ turns, turns_without_tokens }: UsageSum): boolean =>
  turns_without_tokens === turns;
