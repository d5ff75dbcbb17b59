import { type Ask, type AskContent, type Caller, LIMITS, ParleyError, ulid } from '@parley/protocol';

import type { AnswerAsk, RaiseAsk, WithdrawAsk } from '../commands.ts';
import { isUnknown } from '../log.ts';
import { operation, stamp } from '../operation.ts';
import { needsPasskey, passkeyNeeded } from '../passkeys/demand.ts';
import { findSigned, proveAnswer } from '../passkeys/operations.ts';
import type { AskPorts, NotifyPorts, PasskeyPorts, RecordPorts } from '../ports.ts';
import type { RecordsQuery } from '../records.ts';
import { checkThreadScope, journalId } from '../threads/access.ts';
import { findAsk, seesAll } from './find-ask.ts';
import { applyApprovalRules } from './approval-rule-operations.ts';
import { isVerdictOf, settled } from './rules.ts';
import { waitForVerdict } from './wait.ts';

const raiseAsk = operation('raise_ask', {
  authority: 'act',
  async run(deps: RecordPorts & AskPorts & PasskeyPorts, caller, input) {
    // The schema of each kind of ask is among those of its input.
    return { ask: await raise(deps, caller, input as Raising) };
  },
});

const askHuman = operation('ask_human', {
  authority: 'act',
  async run(
    deps: RecordPorts & AskPorts & PasskeyPorts & NotifyPorts,
    caller,
    { timeout_ms, ...input },
    context,
  ) {
    // As above.
    const ask = await raise(deps, caller, input as Raising);
    return waitForVerdict(deps, caller, ask, timeout_ms, context);
  },
});

const waitForAsk = operation('wait_for_ask', {
  authority: 'look',
  async run(deps: RecordPorts & AskPorts & NotifyPorts, caller, { ask_id, timeout_ms }, context) {
    return waitForVerdict(deps, caller, await findAsk(deps, caller, ask_id), timeout_ms, context);
  },
});

const getAsk = operation('get_ask', {
  authority: 'look',
  async run(deps: RecordPorts & AskPorts, caller, { ask_id }) {
    return { ask: await shown(deps, await findAsk(deps, caller, ask_id)) };
  },
});

const listAsks = operation('list_asks', {
  authority: 'look',
  async run(deps: RecordPorts & AskPorts, caller, { status, of_agent, limit, before }) {
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
    return {
      asks: await deps.asks.shown(asks),
      next_before: asks.length < found.length ? (asks.at(-1)?.ask_id ?? null) : null,
    };
  },
});

const answerAsk = operation('answer_ask', {
  authority: 'act',
  async run(
    deps: RecordPorts & AskPorts & PasskeyPorts,
    caller,
    { ask_id, idempotency_key, passkey, ...answer },
  ) {
    const [found, signed] = await Promise.all([
      findAsk(deps, caller, ask_id),
      passkey && findSigned(deps, caller, passkey),
    ]);
    const { thread_id } = found;
    const { demanded, origins } = deps.passkeys;
    const isWanted = found.status === 'open' && needsPasskey(found, answer, demanded);
    if (isWanted && signed === undefined && caller.role === 'operator')
      throw passkeyNeeded(ask_id, origins());
    const proof =
      isWanted && signed !== undefined ? await proveAnswer(deps, caller, found, answer, signed) : undefined;
    const head = stamp(deps, caller, `answer:${ask_id}`, idempotency_key);
    const ask = await write(deps, {
      type: 'answer_ask',
      ...head,
      thread_id,
      ask_id,
      demanded,
      input: answer,
      ...(proof === undefined ? {} : { proof }),
    });
    if (!isVerdictOf(ask, caller.agent_id, answer)) throw settled(ask);
    return { ask: await shown(deps, ask) };
  },
});

const withdrawAsk = operation('withdraw_ask', {
  authority: 'act',
  async run(deps: RecordPorts & AskPorts, caller, { ask_id, idempotency_key, reason }) {
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

async function raise(
  deps: RecordPorts & AskPorts & PasskeyPorts,
  caller: Caller,
  raising: Raising,
): Promise<Ask> {
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
  const ask = await write(deps, {
    type: 'raise_ask',
    ...head,
    thread_id,
    ask_id,
    listed: deps.highRisk,
    demanded: deps.passkeys.demanded,
    input,
  });
  const settledAsk = await applyApprovalRules(deps, caller, ask);
  if (settledAsk !== ask) deps.asks.watch(settledAsk);
  return settledAsk;
}

/** Appends what happens to an ask, and lets the keeper know how it stands then. */
async function write(
  deps: RecordPorts & AskPorts,
  command: RaiseAsk | AnswerAsk | WithdrawAsk,
): Promise<Ask> {
  const {
    result: { ask },
    replayed,
  } = await deps.log.append(command).catch((error: unknown) => {
    if (isUnknown(error)) deps.asks.lookUp(command.caller.workspace_id, command.ask_id);
    throw error;
  });
  // An answer given before tells how it stood then.
  if (!replayed) deps.asks.watch(ask);
  return ask;
}

/** One ask as people read it. */
async function shown(deps: AskPorts, ask: Ask): Promise<Ask> {
  return (await deps.asks.shown([ask]))[0] ?? ask;
}

/** As many as an answer can carry, and one in any case. */
function withinBytes(asks: readonly Ask[]): Ask[] {
  let bytes = 0;
  return asks.filter((ask, i) => {
    bytes += JSON.stringify(ask).length;
    return i === 0 || bytes <= LIMITS.page_bytes;
  });
}

/** By name: the table of operations takes them from here. */
export const askOperations = {
  raise_ask: raiseAsk,
  ask_human: askHuman,
  wait_for_ask: waitForAsk,
  get_ask: getAsk,
  list_asks: listAsks,
  answer_ask: answerAsk,
  withdraw_ask: withdrawAsk,
};
