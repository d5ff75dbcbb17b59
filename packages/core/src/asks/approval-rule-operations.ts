import type { Ask, Caller } from '@parley/protocol';

import { requirePerson } from '../devices/operations.ts';
import { hubCaller } from '../hub-caller.ts';
import { operation, stamp } from '../operation.ts';
import type { AskPorts, RecordPorts } from '../ports.ts';
import { readPage } from '../record-pages.ts';
import { journalId } from '../threads/access.ts';
import { MAX_RULES } from './approval-rule-commands.ts';
import { grants, type ApprovalRuleRecord } from './approval-rule.ts';
import { isHighRisk } from './weigh-risk.ts';

const listApprovalRules = operation('list_approval_rules', {
  authority: 'look',
  async run(deps: RecordPorts, caller, page) {
    requirePerson(caller);
    const query = { kind: 'approval_rule', workspace_id: caller.workspace_id } as const;
    const found = await readPage(deps.store, query, page, ({ approval_rule_id }) => approval_rule_id);
    return { approval_rules: found.values.map(shown), next_after: found.next_after };
  },
});

const addApprovalRule = operation('add_approval_rule', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, of_agent, command, cwd, expires_in_ms }) {
    requirePerson(caller);
    const head = stamp(deps, caller, 'add_approval_rule', idempotency_key);
    const approval_rule: ApprovalRuleRecord = {
      approval_rule_id: `rule-${Buffer.from(deps.chance.bytes(6)).toString('hex')}`,
      workspace_id: caller.workspace_id,
      of_agent,
      command,
      given_by: caller.agent_id,
      created_at: new Date(head.now).toISOString(),
      uses: 0,
      ...(cwd === undefined ? {} : { cwd }),
      ...(expires_in_ms === undefined
        ? {}
        : { expires_at: new Date(head.now + expires_in_ms).toISOString() }),
    };
    const input = { of_agent, command, ...(cwd === undefined ? {} : { cwd }) };
    const thread_id = journalId(caller.workspace_id, of_agent);
    const { result } = await deps.log.append({
      type: 'add_approval_rule',
      ...head,
      thread_id,
      approval_rule,
      input,
    });
    return { approval_rule: shown(result.approval_rule) };
  },
});

const revokeApprovalRule = operation('revoke_approval_rule', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, approval_rule_id }) {
    requirePerson(caller);
    const head = stamp(deps, caller, 'revoke_approval_rule', idempotency_key);
    const { workspace_id } = caller;
    const [known] = await deps.store.records({
      kind: 'approval_rule',
      workspace_id,
      keys: [approval_rule_id],
      limit: 1,
    });
    // A repeat of a revocation finds nothing here, and its answer under its key.
    const thread_id = journalId(workspace_id, known?.of_agent ?? caller.agent_id);
    const input = { approval_rule_id };
    const { result } = await deps.log.append({ type: 'revoke_approval_rule', ...head, thread_id, input });
    return { approval_rule: shown(result.approval_rule) };
  },
});

/** The ask after those approval rules that answer it: what nobody has allowed waits for a person. */
export async function applyApprovalRules(
  deps: RecordPorts & AskPorts,
  caller: Caller,
  ask: Ask,
): Promise<Ask> {
  if (ask.status !== 'open' || ask.kind !== 'approval' || isHighRisk(ask, deps.highRisk)) return ask;
  const now = deps.clock.now();
  const approval_rule = (await rulesOf(deps, caller, ask.agent_id)).find((one) => grants(one, ask, now));
  if (approval_rule === undefined) return ask;
  const { thread_id, ask_id } = ask;
  const head = stamp(deps, hubCaller(caller.workspace_id), '', undefined);
  const input = { approval_rule_id: approval_rule.approval_rule_id };
  const { result } = await deps.log.append({
    type: 'apply_approval_rule',
    ...head,
    thread_id,
    ask_id,
    input,
  });
  return result.ask;
}

function rulesOf(
  { store }: RecordPorts,
  { workspace_id }: Caller,
  owner: string,
): Promise<ApprovalRuleRecord[]> {
  return store.records({ kind: 'approval_rule', workspace_id, owner, limit: MAX_RULES });
}

function shown({
  workspace_id: _workspace,
  ...approval_rule
}: ApprovalRuleRecord): Omit<ApprovalRuleRecord, 'workspace_id'> {
  return approval_rule;
}

/** By name: the table of operations takes them from here. */
export const approvalRuleOperations = {
  list_approval_rules: listApprovalRules,
  add_approval_rule: addApprovalRule,
  revoke_approval_rule: revokeApprovalRule,
};
