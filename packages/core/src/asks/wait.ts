import { type Ask, type Caller, inTime } from '@parley/protocol';

import type { CallContext } from '../gate.ts';
import { stamp } from '../operation.ts';
import type { AskPorts, NotifyPorts, RecordPorts } from '../ports.ts';
import { findAsk } from './find-ask.ts';

const PROGRESS_MS = 5_000;

/** Waits for the verdict; the agent that raised the ask takes it with that, and the ask is resolved. */
export async function waitForVerdict(
  deps: RecordPorts & AskPorts & NotifyPorts,
  caller: Caller,
  { ask_id, thread_id, agent_id }: Ask,
  timeoutMs: number,
  { signal, progress }: CallContext,
): Promise<{ ask: Ask; timed_out: boolean }> {
  const subscription = deps.feed.subscribe(thread_id);
  const isOver = caller.agent_id === agent_id ? deps.asks.waits(ask_id) : () => {};
  const ticker = setInterval(() => progress?.('waiting for a person'), PROGRESS_MS);
  try {
    // The feed is looked at before the record: what is announced between the two is not missed.
    let heard = subscription.head;
    let ask = await findAsk(deps, caller, ask_id);
    await inTime(timeoutMs, signal, async (patience) => {
      while (ask.status === 'open' && !patience.aborted) {
        await subscription.next(heard, patience);
        heard = subscription.head;
        ask = await findAsk(deps, caller, ask_id);
      }
    });
    // Who has gone does not take the answer with him: it waits for his next call.
    if (ask.status !== 'answering' || caller.agent_id !== ask.agent_id || signal.aborted)
      return { ask, timed_out: ask.status === 'open' };
    const head = stamp(deps, caller, '', undefined);
    const { result } = await deps.log.append({ type: 'take_ask', ...head, thread_id, ask_id, input: {} });
    return { ask: result.ask, timed_out: false };
  } finally {
    isOver();
    clearInterval(ticker);
    subscription.close();
  }
}
