import type { TurnUsage } from '@parley/protocol';

import type { TokenUsage } from './backend.ts';

/** What a turn used, in the hub's words: Codex tells tokens and no cost, and its input includes what came from a cache. */
export function spentByCodex(usage: TokenUsage | undefined): TurnUsage | undefined {
  if (usage?.turn === undefined) return undefined;
  const { input, cachedInput, output, reasoningOutput } = usage.turn;
  return {
    ...(usage.model === undefined ? {} : { model: usage.model.slice(0, 128) }),
    input_tokens: input,
    cached_input_tokens: cachedInput,
    output_tokens: output,
    reasoning_tokens: reasoningOutput,
  };
}
