import { type Ask, type AskVerdict, ParleyError } from '@parley/protocol';

import { journalEntry } from '../agents/journal.ts';
import type {
  AnswerAsk,
  Command,
  Decision,
  ExpireAsk,
  Loaded,
  RaiseAsk,
  Rule,
  TakeAsk,
  WithdrawAsk,
} from '../commands.ts';
import { append } from '../draft.ts';
import type { Entry } from '../entry.ts';
import type { PutRecord } from '../records.ts';
import { admit, journalId } from '../threads/access.ts';

type AskCommand = Extract<Command, { ask_id: string }>;

const needsAsk = ({ thread_id, ask_id }: AskCommand) => ({
  thread: thread_id,
  record: { kind: 'ask', key: ask_id } as const,
});

const raiseAsk: Rule<RaiseAsk> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const { caller, input, ask_id, expires_at } = command;
    const content = {
      type: 'ask.raised',
      kind: 'event',
      body: input.prompt,
      metadata: { event_type: 'ask_raised', ask_id, expires_at, ask: input },
    } as const;
    const journal = command.thread_id === journalId(caller.workspace_id, caller.agent_id);
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
    return { changes: [change], records: [putAsk(ask)], result: { ask } };
  },
};

const answerAsk: Rule<AnswerAsk> = {
  needs: needsAsk,
  decide(loaded, command) {
    const ask = requireAsk(loaded, command);
    const { caller, input, now } = command;
    if (caller.role !== 'operator')
      throw new ParleyError('INSUFFICIENT_AUTHORITY', 'only a person (role operator) may answer an ask');
    const verdict: AskVerdict = {
      ...input,
      by: caller.agent_id,
      device: caller.session_id,
      at: new Date(now).toISOString(),
    };
    if (ask.verdict !== undefined && sameAnswer(ask.verdict, verdict))
      return { changes: [], result: { ask } };
    if (ask.status !== 'open') throw standing(ask);
    if (isOver(ask, now)) throw standing(expired(ask));
    checkOption(ask, input.option);
    return write(
      loaded,
      command,
      { ...ask, status: 'answering', verdict },
      'ask.answered',
      describe(verdict),
    );
  },
};

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
    if (ask.status !== 'open') throw standing(ask);
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
    return write(loaded, command, expired(ask), 'ask.resolved', 'denied: nobody answered in time');
  },
};

export const askRules = {
  raise_ask: raiseAsk,
  answer_ask: answerAsk,
  take_ask: takeAsk,
  withdraw_ask: withdrawAsk,
  expire_ask: expireAsk,
};

/** The ask as it stands at a moment: one whose time is up reads denied, also before the hub has put that on record. */
export function askAt(ask: Ask, now: number): Ask {
  return ask.status === 'open' && isOver(ask, now) ? expired(ask) : ask;
}

function isOver(ask: Ask, now: number): boolean {
  return Date.parse(ask.expires_at) <= now;
}

function expired(ask: Ask): Ask {
  const verdict: AskVerdict = {
    decision: 'denied',
    by: 'parley',
    device: 'hub',
    at: ask.expires_at,
    reason: 'nobody answered in time',
  };
  return { ...ask, status: 'resolved', verdict, resolved_at: ask.expires_at };
}

function requireAsk({ record }: Loaded, { caller }: AskCommand): Ask {
  const ask = record as Ask | undefined;
  if (ask === undefined || ask.workspace_id !== caller.workspace_id)
    throw new ParleyError('NOT_FOUND', 'no such ask');
  return ask;
}

function write(loaded: Loaded, command: AskCommand, ask: Ask, type: Entry['type'], body: string): Decision {
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
    },
  });
  return { changes: [change], records: [putAsk(ask)], result: { ask } };
}

function putAsk(value: Ask): PutRecord {
  return { kind: 'ask', workspace_id: value.workspace_id, key: value.ask_id, mark: value.status, value };
}

function standing(ask: Ask): ParleyError {
  const { decision = 'none', by = '' } = ask.verdict ?? {};
  return new ParleyError('CONFLICT', `the ask is settled: ${decision} by ${by}`, { ask });
}

function sameAnswer(a: AskVerdict, b: AskVerdict): boolean {
  return a.by === b.by && a.decision === b.decision && a.option === b.option && a.text === b.text;
}

function checkOption(ask: Ask, option: string | undefined): void {
  if (option === undefined || (ask.options ?? []).some(({ id }) => id === option)) return;
  throw new ParleyError('VALIDATION_ERROR', `option: the agent offers no ${option}`, {
    field: 'option',
    options: (ask.options ?? []).map(({ id }) => id),
  });
}

function describe({ decision, option, reason, text }: AskVerdict): string {
  return [decision, option, reason ?? text]
    .filter((part) => part !== undefined)
    .join(': ')
    .slice(0, 2_000);
}
