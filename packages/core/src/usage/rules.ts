import type { ForgetUsage, ReportUsage, Rule } from '../commands.ts';
import { admit } from '../threads/access.ts';
import { dayOf, usageKey, type UsageRecord, withTurn } from './usage-sums.ts';

const namedBy = ({ caller, now, thread_id, day, input }: ReportUsage) => ({
  workspace_id: caller.workspace_id,
  day: day ?? dayOf(now),
  agent_id: caller.agent_id,
  ...(thread_id === undefined ? {} : { thread_id }),
  ...(input.model === undefined ? {} : { model: input.model }),
});

/** Adds a turn to what its agent used that day: sums are kept, not turns. */
const reportUsage: Rule<ReportUsage> = {
  needs: (command) => ({
    ...(command.thread_id === undefined ? {} : { thread: command.thread_id }),
    records: true,
    gets: [{ kind: 'usage', key: usageKey(namedBy(command)) }],
  }),
  decide({ located, records }, command) {
    if (command.thread_id !== undefined) admit(located, command.caller);
    const named = namedBy(command);
    const key = usageKey(named);
    const value: UsageRecord = withTurn(records?.get('usage', key), named, command.input);
    const { workspace_id, agent_id: owner, day } = named;
    return {
      changes: [],
      records: [{ kind: 'usage', workspace_id, key, mark: 'day', owner, value }],
      result: { ok: true, day },
    };
  },
};

const forgetUsage: Rule<ForgetUsage> = {
  needs: () => ({}),
  decide: (_loaded, { caller: { workspace_id }, input: { keys } }) => ({
    changes: [],
    drops: keys.map((key) => ({ kind: 'usage', workspace_id, key })),
    result: {},
  }),
};

export const usageRules = { report_usage: reportUsage, forget_usage: forgetUsage };
