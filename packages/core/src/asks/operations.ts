import { type Ask, type Caller, LIMITS, ParleyError, ulid } from '@parley/protocol';

import { type CallContext, type Deps, operation, stamp } from '../operation.ts';
import { checkThreadScope, journalId } from '../threads/access.ts';
import { mayOverride } from '../threads/status.ts';
import { askAt } from './rules.ts';

interface Raised {
  thread_id?: string | undefined;
  idempotency_key?: string | undefined;
  expires_in_ms: number;
}

export const raiseAsk = operation('raise_ask', {
  authority: 'act',
  run: async (deps, caller, input) => ({ ask: await raise(deps, caller, input) }),
});

export const askHuman = operation('ask_human', {
  authority: 'act',
  async run(deps, caller, { timeout_ms, options, ...input }, context) {
    const ask = await raise(deps, caller, {
      ...input,
      risk: 'medium',
      expires_in_ms: 600_000,
      ...(options === undefined
        ? {}
        : { options: options.map((label) => ({ id: label, label, kind: 'choice' as const })) }),
    });
    return wait(deps, caller, ask, timeout_ms, context);
  },
});

export const waitForAsk = operation('wait_for_ask', {
  authority: 'look',
  async run(deps, caller, { ask_id, timeout_ms }, context) {
    return wait(deps, caller, await find(deps, caller, ask_id), timeout_ms, context);
  },
});

export const getAsk = operation('get_ask', {
  authority: 'look',
  run: async (deps, caller, { ask_id }) => ({ ask: await find(deps, caller, ask_id) }),
});

export const listAsks = operation('list_asks', {
  authority: 'look',
  async run(deps, caller, { status, of_agent, limit }) {
    const now = deps.clock.now();
    const asks = await deps.store.records({
      kind: 'ask',
      workspace_id: caller.workspace_id,
      // What reads open may have run out of time since: then it is among the resolved ones.
      ...(status === 'all' || status === 'resolved' ? {} : { marks: [status] }),
      limit: LIMITS.records,
    });
    return {
      asks: asks
        .map((ask) => askAt(ask, now))
        .filter((ask) => status === 'all' || ask.status === status)
        .filter((ask) => of_agent === undefined || ask.agent_id === of_agent)
        .filter((ask) => maySee(ask, caller))
        .slice(-limit)
        .toReversed(),
    };
  },
});

export const answerAsk = operation('answer_ask', {
  authority: 'act',
  async run(deps, caller, { ask_id, idempotency_key, ...input }) {
    const { thread_id } = await find(deps, caller, ask_id);
    const head = stamp(deps, caller, `ask:${ask_id}`, idempotency_key);
    const command = { type: 'answer_ask', ...head, thread_id, ask_id, input: input as never } as const;
    return (await deps.log.append(command)).result as never;
  },
});

export const withdrawAsk = operation('withdraw_ask', {
  authority: 'act',
  async run(deps, caller, { ask_id, idempotency_key, reason }) {
    const { thread_id } = await find(deps, caller, ask_id);
    const head = stamp(deps, caller, `ask:${ask_id}`, idempotency_key);
    const command = { type: 'withdraw_ask', ...head, thread_id, ask_id, input: { reason } } as const;
    return (await deps.log.append(command)).result as never;
  },
});

async function raise(deps: Deps, caller: Caller, raised: Raised & Record<string, unknown>): Promise<Ask> {
  const { thread_id = journalId(caller.workspace_id, caller.agent_id), idempotency_key, ...rest } = raised;
  const { expires_in_ms, ...input } = rest;
  checkThreadScope(thread_id, caller);
  deps.messageQuota.spend(caller);
  const head = stamp(deps, caller, 'raise_ask', idempotency_key);
  const ask_id = `ask_${ulid(head.now, deps.chance.bytes(16))}`;
  const expires_at = new Date(head.now + expires_in_ms).toISOString();
  const { result } = await deps.log.append({
    type: 'raise_ask',
    ...head,
    thread_id,
    ask_id,
    expires_at,
    input: input as never,
  });
  const ask = result['ask'] as Ask;
  deps.asks.watch(ask);
  return ask;
}

async function find(deps: Deps, caller: Caller, askId: string): Promise<Ask> {
  const [ask] = await deps.store.records({
    kind: 'ask',
    workspace_id: caller.workspace_id,
    prefix: askId,
    limit: 1,
  });
  if (ask?.ask_id !== askId || !maySee(ask, caller)) throw new ParleyError('NOT_FOUND', 'no such ask');
  return askAt(ask, deps.clock.now());
}

function maySee(ask: Ask, caller: Caller): boolean {
  return ask.agent_id === caller.agent_id || mayOverride(caller) || caller.role === 'observer';
}

const PROGRESS_MS = 5_000;

/** Waits for the verdict; the agent that raised the ask takes it with that, and the ask is resolved. */
async function wait(
  deps: Deps,
  caller: Caller,
  first: Ask,
  timeoutMs: number,
  { signal, progress }: CallContext,
): Promise<{ ask: Ask; timed_out: boolean }> {
  const untilExpiry = Math.max(0, Date.parse(first.expires_at) - deps.clock.now()) + 1;
  const patience = AbortSignal.any([AbortSignal.timeout(Math.min(timeoutMs, untilExpiry)), signal]);
  const subscription = deps.feed.subscribe(first.thread_id);
  const ticker = setInterval(() => progress?.('waiting for a person'), PROGRESS_MS);
  try {
    let ask = await find(deps, caller, first.ask_id);
    while (ask.status === 'open' && !patience.aborted) {
      await subscription.next(subscription.head, patience);
      ask = await find(deps, caller, first.ask_id);
    }
    if (ask.status !== 'answering' || caller.agent_id !== ask.agent_id)
      return { ask, timed_out: ask.status === 'open' };
    const head = stamp(deps, caller, '', undefined);
    const { thread_id, ask_id } = ask;
    const { result } = await deps.log.append({ type: 'take_ask', ...head, thread_id, ask_id, input: {} });
    return { ask: result['ask'] as Ask, timed_out: false };
  } finally {
    clearInterval(ticker);
    subscription.close();
  }
}
