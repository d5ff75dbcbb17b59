import { type AskVerdict, ParleyError } from '@parley/protocol';

import { journalEntry } from '../agents/journal.ts';
import type {
  AddApprovalRule,
  ApplyApprovalRule,
  RevokeApprovalRule,
  Rule,
  ThreadChange,
} from '../commands.ts';
import type { PutRecord } from '../records.ts';
import type { Located } from '../threads/access.ts';
import { answered } from './rules.ts';
import { grants, type ApprovalRuleRecord } from './approval-rule.ts';

/** How many a workspace may have. */
export const MAX_RULES = 500;

/** As many as there may be. */
const ALL_RULES = { kind: 'approval_rule', limit: MAX_RULES } as const;

const addApprovalRule: Rule<AddApprovalRule> = {
  needs: ({ thread_id }) => ({ thread: thread_id, records: true, lists: [ALL_RULES] }),
  decide({ located, records }, command) {
    const { approval_rule } = command;
    if ((records?.list(ALL_RULES) ?? []).length >= MAX_RULES)
      throw new ParleyError('CONFLICT', `there are ${MAX_RULES} rules; revoke some`);
    const change = tell(located, command, approval_rule, 'given');
    return { changes: [change], records: [putApprovalRule(approval_rule)], result: { approval_rule } };
  },
};

const revokeApprovalRule: Rule<RevokeApprovalRule> = {
  needs: ({ thread_id, input }) => ({
    thread: thread_id,
    records: true,
    gets: [{ kind: 'approval_rule', key: input.approval_rule_id }],
  }),
  decide({ located, records }, command) {
    const { workspace_id } = command.caller;
    const { approval_rule_id: key } = command.input;
    const approval_rule = records?.get('approval_rule', key);
    if (approval_rule === undefined) throw new ParleyError('NOT_FOUND', 'no such rule');
    const change = tell(located, command, approval_rule, 'revoked');
    return {
      changes: [change],
      drops: [{ kind: 'approval_rule', workspace_id, key }],
      result: { approval_rule },
    };
  },
};

/** Answers an ask in the name of who gave the approval rule; one that was revoked or answered meanwhile is left alone. */
const applyApprovalRule: Rule<ApplyApprovalRule> = {
  needs: ({ thread_id, ask_id, input }) => ({
    thread: thread_id,
    record: { kind: 'ask', key: ask_id },
    records: true,
    gets: [{ kind: 'approval_rule', key: input.approval_rule_id }],
  }),
  decide(loaded, command) {
    const ask = loaded.record?.ask;
    if (ask === undefined) throw new ParleyError('NOT_FOUND', 'no such ask');
    const approval_rule = loaded.records?.get('approval_rule', command.input.approval_rule_id);
    if (ask.status !== 'open' || approval_rule === undefined || !grants(approval_rule, ask, command.now))
      return { changes: [], result: { ask } };
    const at = new Date(command.now).toISOString();
    const option = ask.options?.find(({ kind }) => kind === 'allow_once')?.id;
    const verdict: AskVerdict = {
      decision: 'approved',
      scope: 'rule',
      ...(option === undefined ? {} : { option }),
      by: approval_rule.given_by,
      device: approval_rule.approval_rule_id,
      at,
      reason: `by the rule ${approval_rule.approval_rule_id}: ${approval_rule.command}`,
    };
    const decision = answered(loaded, command, ask, verdict);
    const used = { ...approval_rule, uses: approval_rule.uses + 1, last_used_at: at };
    return { ...decision, records: [...(decision.records ?? []), putApprovalRule(used)] };
  },
};

export const approvalRuleCommands = {
  add_approval_rule: addApprovalRule,
  revoke_approval_rule: revokeApprovalRule,
  apply_approval_rule: applyApprovalRule,
};

/** What may run without being asked is on record where the agent's deeds are. */
function tell(
  located: Located,
  command: AddApprovalRule | RevokeApprovalRule,
  { approval_rule_id, of_agent, command: pattern, cwd, expires_at }: ApprovalRuleRecord,
  what: 'given' | 'revoked',
): ThreadChange {
  const content = {
    type: 'agent.approval_rule',
    kind: 'system',
    body: what === 'given' ? `approved from now on: ${pattern}` : `asked again from now on: ${pattern}`,
    metadata: {
      what,
      approval_rule_id,
      command: pattern,
      ...(cwd === undefined ? {} : { cwd }),
      ...(expires_at === undefined ? {} : { expires_at }),
    },
  } as const;
  return journalEntry(located, of_agent, command, content).change;
}

function putApprovalRule(value: ApprovalRuleRecord): PutRecord {
  const { workspace_id, approval_rule_id: key, of_agent: owner } = value;
  return { kind: 'approval_rule', workspace_id, key, mark: '', owner, value };
}
