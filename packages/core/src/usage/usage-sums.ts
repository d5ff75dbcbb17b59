import type { TurnUsage, UsageSum } from '@parley/protocol';

/** What the turns of one agent in one thread with one model used within one day. */
export interface UsageRecord {
  workspace_id: string;
  /** In UTC. */
  day: string;
  agent_id: string;
  thread_id?: string;
  model?: string;
  turns: number;
  turns_without_tokens: number;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  /** In millionths of a dollar, so that many small ones add up exactly. */
  cost_micros: number;
  /** What the turns used of which no cost was reported: it may be priced. */
  uncosted: { turns: number; with_tokens: number; input: number; cached: number; output: number };
}

/** What a model costs here, in dollars for a million tokens. */
export interface Price {
  /** A model whose name begins so; the longest that fits counts. */
  model: string;
  input_usd: number;
  cached_input_usd?: number | undefined;
  output_usd: number;
}

type Named = Pick<UsageRecord, 'day' | 'agent_id' | 'thread_id' | 'model'>;

const MILLION = 1_000_000;

/** The day of a moment, in UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Under which a sum is kept: by day. */
export function usageKey({ day, agent_id, thread_id = '', model = '' }: Named): string {
  return `${day} ${agent_id} ${thread_id} ${model}`;
}

/** The sum with one more turn. */
export function withTurn(
  known: UsageRecord | undefined,
  named: Named & { workspace_id: string },
  usage: TurnUsage,
): UsageRecord {
  const {
    input_tokens = 0,
    cached_input_tokens = 0,
    output_tokens = 0,
    reasoning_tokens = 0,
    cost_usd,
  } = usage;
  const hasTokens = usage.input_tokens !== undefined || usage.output_tokens !== undefined;
  const sum = known ?? { ...named, ...EMPTY };
  const { uncosted } = sum;
  return {
    ...sum,
    turns: sum.turns + 1,
    turns_without_tokens: sum.turns_without_tokens + (hasTokens ? 0 : 1),
    input_tokens: sum.input_tokens + input_tokens,
    cached_input_tokens: sum.cached_input_tokens + cached_input_tokens,
    output_tokens: sum.output_tokens + output_tokens,
    reasoning_tokens: sum.reasoning_tokens + reasoning_tokens,
    cost_micros: sum.cost_micros + Math.round((cost_usd ?? 0) * MILLION),
    uncosted:
      cost_usd !== undefined
        ? uncosted
        : {
            turns: uncosted.turns + 1,
            with_tokens: uncosted.with_tokens + (hasTokens ? 1 : 0),
            input: uncosted.input + input_tokens,
            cached: uncosted.cached + cached_input_tokens,
            output: uncosted.output + output_tokens,
          },
  };
}

const EMPTY = {
  turns: 0,
  turns_without_tokens: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cost_micros: 0,
  uncosted: { turns: 0, with_tokens: 0, input: 0, cached: 0, output: 0 },
};

/** What several records come to; what has a price is priced, what has none is told to have none. */
export function sumOf(records: readonly UsageRecord[], prices: readonly Price[]): UsageSum {
  let [reported, priced, turns_without_cost] = [0, 0, 0];
  let [hasReported, hasPriced] = [false, false];
  const sum = {
    turns: 0,
    turns_without_tokens: 0,
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
  };
  for (const record of records) {
    sum.turns += record.turns;
    sum.turns_without_tokens += record.turns_without_tokens;
    sum.input_tokens += record.input_tokens;
    sum.cached_input_tokens += record.cached_input_tokens;
    sum.output_tokens += record.output_tokens;
    sum.reasoning_tokens += record.reasoning_tokens;
    const { uncosted } = record;
    if (record.turns > uncosted.turns) {
      hasReported = true;
      reported += record.cost_micros;
    }
    const price = priceOf(record.model, prices);
    const found = price === undefined ? 0 : uncosted.with_tokens;
    turns_without_cost += uncosted.turns - found;
    if (price === undefined || found === 0) continue;
    hasPriced = true;
    const { input_usd, cached_input_usd = input_usd, output_usd } = price;
    const fresh = Math.max(0, uncosted.input - uncosted.cached);
    // Dollars for a million tokens are millionths of a dollar for one.
    priced += fresh * input_usd + uncosted.cached * cached_input_usd + uncosted.output * output_usd;
  }
  return {
    ...sum,
    turns_without_cost,
    cost_reported_usd: hasReported ? Math.round(reported) / MILLION : null,
    cost_priced_usd: hasPriced ? Math.round(priced) / MILLION : null,
  };
}

function priceOf(model: string | undefined, prices: readonly Price[]): Price | undefined {
  if (model === undefined) return undefined;
  return prices
    .filter((price) => model.startsWith(price.model))
    .toSorted((a, b) => b.model.length - a.model.length)[0];
}
