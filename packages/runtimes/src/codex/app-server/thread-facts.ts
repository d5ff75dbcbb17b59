import { type Loose, numberAt, objectAt, textAt } from '../../process/rpc-peer.ts';
import type { ThreadInfo, ThreadStatus, TokenCount, TokenUsage } from '../backend.ts';

/** The port's word for a status of app-server. */
export function statusOf(status: Loose): ThreadStatus {
  switch (status['type']) {
    case 'idle':
      return 'idle';
    case 'systemError':
      return 'system_error';
    case 'active': {
      const flags = Array.isArray(status['activeFlags']) ? status['activeFlags'] : [];
      if (flags.includes('waitingOnApproval')) return 'waiting_on_approval';
      return flags.includes('waitingOnUserInput') ? 'waiting_on_input' : 'active';
    }
    default:
      return 'not_loaded';
  }
}

/** What a thread says of itself. */
export function threadInfo(thread: Loose): ThreadInfo {
  const milliseconds = (key: string): number | undefined => {
    const seconds = numberAt(thread, key);
    return seconds === undefined ? undefined : seconds * 1_000;
  };
  return {
    threadId: textAt(thread, 'id') ?? '',
    status: statusOf(objectAt(thread, 'status')),
    cwd: textAt(thread, 'cwd'),
    preview: textAt(thread, 'preview'),
    createdAt: milliseconds('createdAt'),
    updatedAt: milliseconds('updatedAt'),
    raw: thread,
  };
}

/** Token counts as app-server spells them. */
export function usageOf(usage: Loose, model: string | undefined): TokenUsage {
  const count = (part: Loose): TokenCount => ({
    input: numberAt(part, 'inputTokens') ?? 0,
    cachedInput: numberAt(part, 'cachedInputTokens') ?? 0,
    output: numberAt(part, 'outputTokens') ?? 0,
    reasoningOutput: numberAt(part, 'reasoningOutputTokens') ?? 0,
    total: numberAt(part, 'totalTokens') ?? 0,
  });
  const named = model === undefined ? {} : { model };
  return { last: count(objectAt(usage, 'last')), thread: count(objectAt(usage, 'total')), ...named };
}

/** The usage of a turn after one more request of it; one that is told twice counts once. */
export function withRequest(known: TokenUsage | undefined, next: TokenUsage): TokenUsage {
  if (known === undefined) return { ...next, turn: next.last };
  if (known.thread.total === next.thread.total) return { ...next, turn: known.turn ?? next.last };
  const { turn = known.last } = known;
  const { last } = next;
  return {
    ...next,
    turn: {
      input: turn.input + last.input,
      cachedInput: turn.cachedInput + last.cachedInput,
      output: turn.output + last.output,
      reasoningOutput: turn.reasoningOutput + last.reasoningOutput,
      total: turn.total + last.total,
    },
  };
}
