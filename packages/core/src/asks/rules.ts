import {
  AGENT_GONE,
  type Ask,
  type AskAnswer,
  type AskVerdict,
  canonicalJson,
  HUB_NAME,
  NO_LONGER_NEEDED,
  ParleyError,
} from '@parley/protocol';

import { journalEntry } from '../agents/journal.ts';
import { putHeard } from '../agents/rules.ts';
import type {
  AnswerAsk,
  Command,
  Decision,
  DropAsk,
  ExpireAsk,
  Loaded,
  RaiseAsk,
  Rule,
  TakeAsk,
  WithdrawAsk,
} from '../commands.ts';
import { append, invalid } from '../draft.ts';
import type { Entry } from '../entry.ts';
import { hubCaller } from '../hub-caller.ts';
import { checkMaySpeak } from '../participation/speaking.ts';
import { admit, journalId } from '../threads/access.ts';
import type { PasskeyProof } from '../passkeys/passkey-record.ts';
import { needsPasskey, passkeyNeeded } from '../passkeys/demand.ts';
import { needsProof, useProof } from '../passkeys/rules.ts';
import { saidIn } from '../passkeys/statement.ts';
import { putAsk } from './evolve-ask.ts';
import { weighed } from './weigh-risk.ts';

type AskCommand = Extract<Command, { ask_id: string }>;

/** What every rule decides of an ask: its answer is the ask as it stands then. */
type Settling = Decision<{ ask: Ask }>;

const needsAsk = ({ thread_id, ask_id }: AskCommand) => ({
  thread: thread_id,
  record: { kind: 'ask', key: ask_id } as const,
});

const raiseAsk: Rule<RaiseAsk> = {
  needs: ({ thread_id, caller }) => ({ thread: thread_id, record: { kind: 'agent', key: caller.agent_id } }),
  decide({ located, record }, command) {
    const { caller, ask_id, now } = command;
    const { expires_in_ms, ...asked } = command.input;
    const seen = weighed(asked, command.listed);
    const isHeld = command.demanded === 'high_risk' && seen.risk === 'high';
    const input = isHeld ? { ...seen, needs_passkey: true as const } : seen;
    const expires_at = new Date(now + expires_in_ms).toISOString();
    const content = {
      type: 'ask.raised',
      kind: 'event',
      body: input.prompt,
      metadata: { event_type: 'ask_raised', ask_id, expires_at, ask: input },
    } as const;
    const journal = command.thread_id === journalId(caller.workspace_id, caller.agent_id);
    if (!journal) {
      if (admit(located, caller).status === 'closed')
        throw new ParleyError('CONFLICT', 'the thread is closed; reopen it, or leave thread_id out');
      // What is asked is told to all of the thread; in its own journal one who must be silent still reaches a person.
      checkMaySpeak(located, caller, 'leave thread_id out to ask a person all the same');
    }
    const { entry, change } = journal
      ? journalEntry(located, caller.agent_id, command, content)
      : append(admit(located, caller), command, content);
    const ask: Ask = {
      ask_id,
      workspace_id: caller.workspace_id,
      agent_id: caller.agent_id,
      session_id: caller.session_id,
      thread_id: entry.thread_id,
      message_id: entry.message_id,
      ...input,
      status: 'open',
      created_at: entry.created_at,
      expires_at,
    };
    return { changes: [change], records: [putAsk(ask), putHeard(record, command)], result: { ask } };
  },
};

/** Answers with the ask as it stands: the caller's verdict, or that of the clock, which is then on record too. */
const answerAsk: Rule<AnswerAsk> = {
  needs: (command) => ({
    ...needsAsk(command),
    ...(command.proof === undefined ? {} : needsProof(command.proof)),
  }),
  decide(loaded, command) {
    const ask = requireAsk(loaded, command);
    const { caller, input, now, proof } = command;
    if (caller.role !== 'operator')
      throw new ParleyError('INSUFFICIENT_AUTHORITY', 'only a person (role operator) may answer an ask');
    if (isVerdictOf(ask, caller.agent_id, input)) return { changes: [], result: { ask } };
    if (ask.status !== 'open') throw settled(ask);
    if (isOver(ask, now)) return expire(loaded, command, ask);
    checkFit(ask, input);
    if (proof === undefined && needsPasskey(ask, input, command.demanded)) throw passkeyNeeded(ask.ask_id);
    const used = proof && useProof(loaded, command, proof, ask.ask_id);
    const verdict: AskVerdict = {
      ...input,
      by: caller.agent_id,
      device: caller.session_id,
      at: new Date(now).toISOString(),
      ...(proof === undefined ? {} : { passkey: proof.passkey_id }),
    };
    const decision = answered(loaded, command, ask, verdict, proof && { proof });
    if (used === undefined) return decision;
    return { ...decision, records: [...(decision.records ?? []), ...used.records], drops: used.drops };
  },
};

/** An ask with its verdict, which the agent has yet to take. */
export function answered(
  loaded: Loaded,
  command: AskCommand,
  ask: Ask,
  verdict: AskVerdict,
  facts: { proof?: PasskeyProof } = {},
): Settling {
  const next: Ask = { ...ask, status: 'answering', verdict };
  return write(loaded, command, next, 'ask.answered', describe(verdict), facts);
}

const takeAsk: Rule<TakeAsk> = {
  needs: needsAsk,
  decide(loaded, command) {
    const ask = requireAsk(loaded, command);
    if (command.caller.agent_id !== ask.agent_id)
      throw new ParleyError('FORBIDDEN', 'only the agent that raised an ask can take its answer');
    if (ask.status !== 'answering') return { changes: [], result: { ask } };
    const resolved_at = new Date(command.now).toISOString();
    return write(
      loaded,
      command,
      { ...ask, status: 'resolved', resolved_at },
      'ask.resolved',
      'the agent has the answer',
    );
  },
};

const withdrawAsk: Rule<WithdrawAsk> = {
  needs: needsAsk,
  decide(loaded, command) {
    const ask = requireAsk(loaded, command);
    const { caller, input, now } = command;
    if (caller.agent_id !== ask.agent_id)
      throw new ParleyError('FORBIDDEN', 'only the agent that raised an ask can withdraw it');
    if (ask.verdict?.decision === 'withdrawn') return { changes: [], result: { ask } };
    if (ask.status !== 'open') throw settled(ask);
    if (isOver(ask, now)) return expire(loaded, command, ask);
    if (input.reason !== NO_LONGER_NEEDED)
      checkMaySpeak(loaded.located, caller, 'leave reason out to withdraw it');
    const at = new Date(now).toISOString();
    const verdict: AskVerdict = {
      decision: 'withdrawn',
      by: caller.agent_id,
      device: caller.session_id,
      at,
      reason: input.reason,
    };
    const next: Ask = { ...ask, status: 'resolved', verdict, resolved_at: at };
    return write(loaded, command, next, 'ask.resolved', `withdrawn: ${input.reason}`);
  },
};

const expireAsk: Rule<ExpireAsk> = {
  needs: needsAsk,
  decide(loaded, command) {
    const ask = requireAsk(loaded, command);
    if (ask.status !== 'open' || !isOver(ask, command.now)) return { changes: [], result: { ask } };
    return expire(loaded, command, ask);
  },
};

const dropAsk: Rule<DropAsk> = {
  needs: (command) => ({ ...needsAsk(command), records: true }),
  decide(loaded, command) {
    const ask = requireAsk(loaded, command);
    if (ask.status !== 'open') return { changes: [], result: { ask } };
    const { now, input } = command;
    if (isOver(ask, now)) return expire(loaded, command, ask);
    // It may have come back while this waited for its turn.
    const session = loaded.records?.get('session', `${ask.agent_id} ${ask.session_id}`);
    const isBack =
      session !== undefined && session.status !== 'offline' && session.last_heartbeat_at > input.gone_since;
    if (isBack) return { changes: [], result: { ask } };
    const at = new Date(now).toISOString();
    const verdict: AskVerdict = {
      decision: 'withdrawn',
      by: HUB_NAME,
      device: 'hub',
      at,
      reason: AGENT_GONE,
    };
    const next: Ask = { ...ask, status: 'resolved', verdict, resolved_at: at };
    return write(loaded, command, next, 'ask.resolved', `withdrawn: ${AGENT_GONE}`);
  },
};

export const askRules = {
  raise_ask: raiseAsk,
  answer_ask: answerAsk,
  take_ask: takeAsk,
  withdraw_ask: withdrawAsk,
  expire_ask: expireAsk,
  drop_ask: dropAsk,
};

/** True when an ask waits no longer, whether that is on record yet or not. */
export function isOver(ask: Pick<Ask, 'expires_at'>, now: number): boolean {
  return Date.parse(ask.expires_at) <= now;
}

/** True when the standing verdict is this very answer of this person. */
export function isVerdictOf({ verdict }: Ask, person: string, answer: AskAnswer): boolean {
  if (verdict?.by !== person) return false;
  return canonicalJson(saidIn(verdict)) === canonicalJson(answer);
}

/** The refusal of an answer that comes second: it brings the ask with the verdict that stands. */
export function settled(ask: Ask): ParleyError {
  const { decision = 'none', by = '' } = ask.verdict ?? {};
  return new ParleyError('CONFLICT', `the ask is settled: ${decision} by ${by}`, { ask });
}

function expire(loaded: Loaded, command: AskCommand, ask: Ask): Settling {
  const { expires_at } = ask;
  const verdict: AskVerdict = {
    decision: 'denied',
    // The hub's own name, whoever's call it was that came too late.
    by: HUB_NAME,
    device: 'hub',
    at: expires_at,
    reason: 'nobody answered in time',
  };
  const hub = hubCaller(ask.workspace_id);
  const next: Ask = { ...ask, status: 'resolved', verdict, resolved_at: expires_at };
  return write(loaded, { ...command, caller: hub }, next, 'ask.resolved', 'denied: nobody answered in time');
}

function requireAsk({ record }: Loaded, { caller, thread_id }: AskCommand): Ask {
  const ask = record?.ask;
  const here = ask?.workspace_id === caller.workspace_id && ask.thread_id === thread_id;
  if (ask === undefined || !here) throw new ParleyError('NOT_FOUND', 'no such ask');
  return ask;
}

function write(
  loaded: Loaded,
  command: AskCommand,
  ask: Ask,
  type: Entry['type'],
  body: string,
  facts: { proof?: PasskeyProof } = {},
): Settling {
  const { change } = journalEntry(loaded.located, ask.agent_id, command, {
    type,
    kind: 'event',
    body,
    in_reply_to: ask.message_id,
    metadata: {
      event_type: type.replace('.', '_'),
      ask_id: ask.ask_id,
      status: ask.status,
      ...(ask.verdict === undefined ? {} : { verdict: ask.verdict }),
      ...(ask.resolved_at === undefined ? {} : { resolved_at: ask.resolved_at }),
      ...facts,
    },
  });
  return { changes: [change], records: [putAsk(ask)], result: { ask } };
}

/** Refuses an answer that the agent could not make sense of: an option it did not offer, a yes that is a no. */
function checkFit({ kind, options = [] }: Ask, { decision, option }: AskAnswer): void {
  if ((kind === 'approval' || kind === 'budget') && decision === 'answered')
    throw invalid('decision', `decision: this ${kind} is to be approved or denied`);
  if (option === undefined) return;
  const chosen = options.find(({ id }) => id === option);
  if (chosen === undefined) {
    throw new ParleyError('VALIDATION_ERROR', `option: the agent offers no ${option}`, {
      field: 'option',
      options: options.map(({ id }) => id),
    });
  }
  const meant = chosen.kind === 'deny' ? 'denied' : chosen.kind.startsWith('allow_') ? 'approved' : undefined;
  if (meant !== undefined && decision !== meant)
    throw invalid('decision', `decision: to choose ${option} is to say ${meant}`);
}

function describe({ decision, option, reason, text }: AskVerdict): string {
  return [decision, option, reason ?? text]
    .filter((part) => part !== undefined)
    .join(': ')
    .slice(0, 2_000);
}
