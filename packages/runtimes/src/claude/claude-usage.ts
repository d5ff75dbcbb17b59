import type { TurnUsage } from '@parley/protocol';

import { type Loose, numberAt, objectAt } from '../process/rpc-peer.ts';

/** Reads from each result of a session what its turn used; undefined where the result does not tell. */
export function createClaudeUsage(isResumed: boolean): (result: Loose) => TurnUsage | undefined {
  /** What the session had used by model when the turn before ended; of one that goes on nobody knows at first. */
  let before: Loose | undefined = isResumed ? undefined : {};
  return (result) => {
    const since = objectAt(result, 'model_usage_since_last_result');
    const all = objectAt(result, 'modelUsage');
    const models = Object.keys(since).length > 0 ? since : before === undefined ? {} : minus(all, before);
    before = all;
    return sumOf(models);
  };
}

const COUNTS = [
  'inputTokens',
  'outputTokens',
  'thinkingTokens',
  'cacheReadInputTokens',
  'cacheCreationInputTokens',
  'costUSD',
] as const;

function minus(all: Loose, before: Loose): Loose {
  return Object.fromEntries(
    Object.keys(all).map((model) => {
      const [now, then] = [objectAt(all, model), objectAt(before, model)];
      return [
        model,
        Object.fromEntries(
          COUNTS.flatMap((name) => {
            const count = numberAt(now, name);
            return count === undefined ? [] : [[name, Math.max(0, count - (numberAt(then, name) ?? 0))]];
          }),
        ),
      ];
    }),
  );
}

function sumOf(models: Loose): TurnUsage | undefined {
  const names = Object.keys(models);
  const count = (name: (typeof COUNTS)[number]): number =>
    names.reduce((sum, model) => sum + Math.max(0, numberAt(objectAt(models, model), name) ?? 0), 0);
  const cached = count('cacheReadInputTokens');
  const input = count('inputTokens') + cached + count('cacheCreationInputTokens');
  const output = count('outputTokens');
  if (input === 0 && output === 0) return undefined;
  const hasCost = names.some((model) => numberAt(objectAt(models, model), 'costUSD') !== undefined);
  // A turn may use several; the one that wrote most is named.
  const [model] = names.toSorted(
    (a, b) =>
      (numberAt(objectAt(models, b), 'outputTokens') ?? 0) -
      (numberAt(objectAt(models, a), 'outputTokens') ?? 0),
  );
  return {
    ...(model === undefined ? {} : { model: model.slice(0, 128) }),
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output,
    reasoning_tokens: count('thinkingTokens'),
    ...(hasCost ? { cost_usd: count('costUSD') } : {}),
  };
}
