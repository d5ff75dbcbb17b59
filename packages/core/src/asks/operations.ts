import { type Ask, type AskContent, type Caller, LIMITS, ParleyError, ulid } from '@parley/protocol';

import { type Deps, operation, stamp } from '../operation.ts';
import type { RecordsQuery } from '../records.ts';
import { checkThreadScope, journalId } from '../threads/access.ts';
import { findAsk, seesAll } from './find-ask.ts';
import { applyLeaves } from './leave-operations.ts';
import { isVerdictOf, settled } from './rules.ts';
import { waitForVerdict } from './wait.ts';

export const raiseAsk = operation('raise_ask', {
  authority: 'act',
  run: async (deps, caller, input) => ({ ask: await raise(deps, caller, input as Raising) }),
});

export const askHuman = operation('ask_human', {
  authority: 'act',
  async run(deps, caller, { timeout_ms, ...input }, context) {
    const ask = await raise(deps, caller, input as Raising);
    return waitForVerdict(deps, caller, ask, timeout_ms, context);
  },
});

export const waitForAsk = operation('wait_for_ask', {
  authority: 'look',
  async run(deps, caller, { ask_id, timeout_ms }, context) {
    return waitForVerdict(deps, caller, await findAsk(deps, caller, ask_id), timeout_ms, context);
  },
});

export const getAsk = operation('get_ask', {
  authority: 'look',
  run: async (deps, caller, { ask_id }) => ({ ask: await findAsk(deps, caller, ask_id) }),
});

export const listAsks = operation('list_asks', {
  authority: 'look',
  async run(deps, caller, { status, of_agent, limit, before }) {
    if (!seesAll(caller) && of_agent !== undefined && of_agent !== caller.agent_id)
      return { asks: [], next_before: null };
    // What is about to be listed as open must not have run out of time.
    await deps.asks.settleAll();
    const owner = seesAll(caller) ? of_agent : caller.agent_id;
    const query: RecordsQuery<'ask'> = {
      kind: 'ask',
      workspace_id: caller.workspace_id,
      descending: true,
      limit: limit + 1,
      ...(status === 'all' ? {} : { marks: [status] }),
      ...(owner === undefined ? {} : { owner }),
      ...(before === undefined ? {} : { past: before }),
    };
    const found = await deps.store.records(query);
    const asks = withinBytes(found.slice(0, limit));
    return { asks, next_before: asks.length < found.length ? (asks.at(-1)?.ask_id ?? null) : null };
  },
});

export const answerAsk = operation('answer_ask', {
  authority: 'act',
  async run(deps, caller, { ask_id, idempotency_key, ...answer }) {
    const { thread_id } = await findAsk(deps, caller, ask_id);
    const head = stamp(deps, caller, `answer:${ask_id}`, idempotency_key);
    const ask = await write(deps, { type: 'answer_ask', ...head, thread_id, ask_id, input: answer });
    if (!isVerdictOf(ask, caller.agent_id, answer as never)) throw settled(ask);
    return { ask };
  },
});

export const withdrawAsk = operation('withdraw_ask', {
  authority: 'act',
  async run(deps, caller, { ask_id, idempotency_key, reason }) {
    const { thread_id } = await findAsk(deps, caller, ask_id);
    const head = stamp(deps, caller, `withdraw:${ask_id}`, idempotency_key);
    const ask = await write(deps, { type: 'withdraw_ask', ...head, thread_id, ask_id, input: { reason } });
    if (ask.verdict?.decision !== 'withdrawn') throw settled(ask);
    return { ask };
  },
});

type Raising = AskContent & {
  thread_id?: string;
  idempotency_key?: string;
  expires_in_ms: number;
};

async function raise(deps: Deps, caller: Caller, raising: Raising): Promise<Ask> {
  const { thread_id = journalId(caller.workspace_id, caller.agent_id), idempotency_key, ...input } = raising;
  checkThreadScope(thread_id, caller);
  if (deps.asks.openOf(caller.workspace_id, caller.agent_id) >= LIMITS.open_asks)
    throw new ParleyError(
      'RATE_LIMITED',
      `${LIMITS.open_asks} of your asks are open; wait or withdraw some`,
      {
        retry_after_ms: 5_000,
      },
    );
  const head = stamp(deps, caller, `raise:${thread_id}`, idempotency_key);
  const ask_id = `ask_${ulid(head.now, deps.chance.bytes(16))}`;
  const ask = await write(deps, { type: 'raise_ask', ...head, thread_id, ask_id, input });
  const settledAsk = await applyLeaves(deps, caller, ask);
  if (settledAsk !== ask) deps.asks.watch(settledAsk);
  return settledAsk;
}

/** Appends what happens to an ask, and lets the keeper know how it stands then. */
async function write(deps: Deps, command: Parameters<Deps['log']['append']>[0]): Promise<Ask> {
  const { result, replayed } = await deps.log.append(command);
  const ask = result['ask'] as Ask;
  // An answer given before tells how it stood then.
  if (!replayed) deps.asks.watch(ask);
  return ask;
}

/** As many as an answer can carry, and one in any case. */
function withinBytes(asks: readonly Ask[]): Ask[] {
  let bytes = 0;
  return asks.filter((ask, i) => {
    bytes += JSON.stringify(ask).length;
    return i === 0 || bytes <= LIMITS.page_bytes;
  });
}
