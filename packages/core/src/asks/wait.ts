import type { Ask, Caller } from '@parley/protocol';

import { type CallContext, type Deps, stamp } from '../operation.ts';
import { findAsk } from './find-ask.ts';

const PROGRESS_MS = 5_000;

/** Waits for the verdict; the agent that raised the ask takes it with that, and the ask is resolved. */
export async function waitForVerdict(
  deps: Deps,
  caller: Caller,
  { ask_id, thread_id }: Ask,
  timeoutMs: number,
  { signal, progress }: CallContext,
): Promise<{ ask: Ask; timed_out: boolean }> {
  const patience = AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]);
  const subscription = deps.feed.subscribe(thread_id);
  const ticker = setInterval(() => progress?.('waiting for a person'), PROGRESS_MS);
  try {
    // The bell is looked at before the record: what rings between the two is not missed.
    let heard = subscription.head;
    let ask = await findAsk(deps, caller, ask_id);
    while (ask.status === 'open' && !patience.aborted) {
      await subscription.next(heard, patience);
      heard = subscription.head;
      ask = await findAsk(deps, caller, ask_id);
    }
    // Who has gone does not take the answer with him: it waits for his next call.
    if (ask.status !== 'answering' || caller.agent_id !== ask.agent_id || signal.aborted)
      return { ask, timed_out: ask.status === 'open' };
    const head = stamp(deps, caller, '', undefined);
    const { result } = await deps.log.append({ type: 'take_ask', ...head, thread_id, ask_id, input: {} });
    return { ask: result['ask'] as Ask, timed_out: false };
  } finally {
    clearInterval(ticker);
    subscription.close();
  }
}
