import { expect, test } from 'vitest';

import { createClaudeUsage } from './claude-usage.ts';

const model = (input: number, output: number, costUSD?: number) => ({
  inputTokens: input,
  outputTokens: output,
  thinkingTokens: 1,
  cacheReadInputTokens: 100,
  cacheCreationInputTokens: 20,
  ...(costUSD === undefined ? {} : { costUSD }),
});

test('a turn is what was used since the last result, all models together, what came from a cache included', () => {
  const spent = createClaudeUsage(true);
  const since = { opus: model(10, 5, 0.5), haiku: model(1, 9, 0.01) };
  expect(spent({ model_usage_since_last_result: since, modelUsage: { opus: model(999, 999, 99) } })).toEqual({
    model: 'haiku',
    input_tokens: 251,
    cached_input_tokens: 200,
    output_tokens: 14,
    reasoning_tokens: 2,
    cost_usd: 0.51,
  });
});

test('where only the sum of the session is told, a turn is the difference', () => {
  const spent = createClaudeUsage(false);
  expect(spent({ modelUsage: { opus: model(10, 5) } })).toMatchObject({
    input_tokens: 130,
    output_tokens: 5,
  });
  const next = spent({ modelUsage: { opus: { ...model(30, 9), cacheReadInputTokens: 150 } } });
  expect(next).toMatchObject({ input_tokens: 70, cached_input_tokens: 50, output_tokens: 4 });
  expect(next).not.toHaveProperty('cost_usd');
});

test('of the first turn of a session that goes on, and of a result without counts, nothing is told', () => {
  const spent = createClaudeUsage(true);
  expect(spent({ modelUsage: { opus: model(10, 5, 1) } })).toBeUndefined();
  expect(spent({ modelUsage: { opus: model(15, 7, 1.5) } })).toMatchObject({
    output_tokens: 2,
    cost_usd: 0.5,
  });
  expect(spent({ usage: { input_tokens: 4 } })).toBeUndefined();
});
