import { randomUUID } from 'node:crypto';

import type { Agent } from '@parley/client';
import { type AskVerdict, type InputOf, errorCode } from '@parley/protocol';

import type { Delivery, Outbox } from './outbox.ts';
import { reporting } from './reporting.ts';
import { type Judge, retry } from './retry.ts';

export interface PutAskDeps {
  /** Undefined when the session ends before there is a hub. */
  whenLinked: Promise<Agent | undefined>;
  outbox: Outbox;
  judge: Judge;
  timeoutMs: number;
  closing: AbortSignal;
}

const WAIT_MS = 60_000;
const LONGEST_MS = 86_400_000;

/** Puts something before a person at the hub, and takes it back when it is settled here; undefined: no answer from there. */
export async function putAsk(
  { whenLinked, outbox, judge, timeoutMs, closing }: PutAskDeps,
  content: InputOf<'raise_ask'>,
  signal: AbortSignal,
): Promise<AskVerdict | undefined> {
  const agent = await Promise.race([whenLinked, aborted(signal)]);
  if (agent === undefined) return undefined;
  const expires_in_ms = Math.min(LONGEST_MS, Math.max(1_000, Math.ceil(timeoutMs)));
  const raising = { ...content, expires_in_ms, idempotency_key: randomUUID() };
  // Not given up when the question is settled meanwhile: what was perhaps raised must be withdrawn.
  const raised = await retry(() => agent.client.raise_ask(raising), judge, closing);
  if (raised === undefined) return undefined;
  const { ask_id } = raised.ask;
  for (;;) {
    const waiting = { ask_id, timeout_ms: WAIT_MS };
    const seen = await retry(() => agent.client.wait_for_ask(waiting, { signal }), judge, signal);
    if (seen === undefined) break;
    if (seen.ask.verdict !== undefined) return seen.ask.verdict;
  }
  outbox.must(
    withdrawing(ask_id, signal.reason instanceof Error ? signal.reason.message : 'no longer needed'),
  );
  return undefined;
}

/** Settles once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** Closes an ask that was settled elsewhere; a person's answer that came second is put on record as such. */
function withdrawing(ask_id: string, reason: string): Delivery {
  return async (agent) => {
    try {
      await agent.client.withdraw_ask({ ask_id, reason });
    } catch (error) {
      if (errorCode(error) !== 'CONFLICT') throw error;
      const { ask } = await agent.client.wait_for_ask({ ask_id, timeout_ms: 0 });
      const { by = '', decision = '' } = ask.verdict ?? {};
      const message = `"${decision}" by ${by} came too late and was not carried out: ${reason}`;
      await reporting({ event_type: 'info', data: { message, ask_id } })(agent);
    }
  };
}
