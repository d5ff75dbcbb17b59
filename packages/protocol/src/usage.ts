import * as z from 'zod';

import { Name, storableText } from './text.ts';

const Tokens = z.number().int().min(0).max(1_000_000_000);

/** What a turn of an agent used, as its runtime reports it; what that does not report is left out, never guessed. */
export const TurnUsage = z.object({
  model: storableText({ maxBytes: 128 }).optional().describe('which model, as the runtime names it'),
  input_tokens: Tokens.optional().describe('all that the model read, what came from a cache included'),
  cached_input_tokens: Tokens.optional().describe('of these, what came from a cache'),
  output_tokens: Tokens.optional().describe('all that the model wrote, its reasoning included'),
  reasoning_tokens: Tokens.optional().describe('of these, its reasoning'),
  cost_usd: z.number().min(0).max(100_000).optional().describe('only where the runtime itself says so'),
});
export type TurnUsage = z.infer<typeof TurnUsage>;

const Count = z.number().int().min(0);
const Money = z.number().min(0);

/** What several turns used together. */
export const UsageSum = z.object({
  turns: Count,
  turns_without_tokens: Count.describe('of these, turns of which no tokens were reported'),
  turns_without_cost: Count.describe(
    'of these, turns of which a cost was neither reported nor found by prices',
  ),
  input_tokens: Count,
  cached_input_tokens: Count.describe('of the input, what came from a cache'),
  output_tokens: Count,
  reasoning_tokens: Count.describe('of the output, reasoning'),
  cost_reported_usd: Money.nullable().describe('as the runtimes said; null: none did'),
  cost_priced_usd: Money.nullable().describe(
    'of the other turns, by the prices that are set here; null: none',
  ),
});
export type UsageSum = z.infer<typeof UsageSum>;

/** By what usage can be summed up. */
export const USAGE_GROUPS = ['agent', 'thread', 'day', 'model'] as const;

/** One line of a sum: whose it is, and what it came to. */
export const UsageRow = UsageSum.extend({
  agent_id: Name.optional(),
  thread_id: z.string().optional().describe('left out for turns that served no one thread'),
  day: z.string().optional().describe('in UTC'),
  model: z.string().optional().describe('left out where the runtime did not name it'),
}).meta({ id: 'UsageRow' });
export type UsageRow = z.infer<typeof UsageRow>;
