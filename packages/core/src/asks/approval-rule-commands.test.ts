import type { Ask } from '@parley/protocol';
import { expect, test } from 'vitest';

import type { Loaded } from '../commands.ts';
import type { RecordReader } from '../records.ts';
import { callerOf, head, NOW } from '../store-contract/scene.ts';
import { type ApprovalRuleRecord, grants } from './approval-rule.ts';
import { approvalRuleCommands, MAX_RULES } from './approval-rule-commands.ts';

const {
  add_approval_rule: add,
  revoke_approval_rule: revoke,
  apply_approval_rule: apply,
} = approvalRuleCommands;
const at = new Date(NOW).toISOString();
const boss = callerOf('boss', 'w', 'operator');
const rule = (more: Partial<ApprovalRuleRecord> = {}): ApprovalRuleRecord => ({
  workspace_id: 'w',
  approval_rule_id: 'r',
  of_agent: 'alice',
  command: 'npm test*',
  given_by: 'boss',
  created_at: at,
  uses: 2,
  ...more,
});
const ask = (more: Partial<Ask> = {}): Ask => ({
  ask_id: 'a',
  workspace_id: 'w',
  agent_id: 'alice',
  session_id: 's',
  thread_id: 't',
  message_id: 'm',
  kind: 'approval',
  prompt: 'may I?',
  command: 'npm test',
  cwd: '/src',
  risk: 'low',
  status: 'open',
  created_at: at,
  expires_at: at,
  ...more,
});
/** What is there when a rule decides: these approval rules, and perhaps an ask. */
function loaded(rules: readonly ApprovalRuleRecord[], about?: Ask): Loaded {
  const records: RecordReader = {
    get: (_kind, key) => rules.find((one) => one.approval_rule_id === key) as never,
    list: ({ limit }) => rules.slice(0, limit) as never,
  };
  const located = { thread: undefined, foreign: false } as const;
  return { located, entry: undefined, cursor: undefined, records, ...(about && { record: { ask: about } }) };
}
const adding = (approval_rule: ApprovalRuleRecord) =>
  ({ type: 'add_approval_rule', ...head(boss), thread_id: 't', approval_rule, input: {} }) as never;
const about = (type: string, approval_rule_id = 'r') =>
  ({ type, ...head(boss), thread_id: 't', ask_id: 'a', input: { approval_rule_id } }) as never;

test('each command names beforehand what it looks at', () => {
  const gets = [{ kind: 'approval_rule', key: 'r' }];
  expect(add.needs(adding(rule()))).toEqual({
    thread: 't',
    records: true,
    lists: [{ kind: 'approval_rule', limit: MAX_RULES }],
  });
  expect(revoke.needs(about('revoke_approval_rule'))).toEqual({ thread: 't', records: true, gets });
  expect(apply.needs(about('apply_approval_rule'))).toEqual({
    thread: 't',
    record: { kind: 'ask', key: 'a' },
    records: true,
    gets,
  });
});

test('an approval rule is kept and told in the journal of its agent, with what bounds it', () => {
  for (const bounds of [{}, { cwd: '/src' }, { expires_at: at }]) {
    const approval_rule = rule(bounds);
    const { changes, records, result } = add.decide(loaded([]), adding(approval_rule));
    expect(result).toEqual({ approval_rule });
    const base = { workspace_id: 'w', key: 'r', mark: '', owner: 'alice' };
    expect(records).toEqual([{ kind: 'approval_rule', ...base, value: approval_rule }]);
    const [founding, entry] = changes[0]?.entries ?? [];
    expect(founding?.metadata).toMatchObject({ journal_of: 'alice' });
    expect(entry).toMatchObject({ type: 'agent.approval_rule', body: 'approved from now on: npm test*' });
    expect(entry?.metadata).toStrictEqual({
      what: 'given',
      approval_rule_id: 'r',
      command: 'npm test*',
      ...bounds,
    });
  }
});

test('a workspace has so many approval rules and no more', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => rule({ approval_rule_id: `r${i}` }));
  expect(() => add.decide(loaded(many(MAX_RULES - 1)), adding(rule()))).not.toThrow();
  expect(() => add.decide(loaded(many(MAX_RULES)), adding(rule()))).toThrow(
    expect.objectContaining({ code: 'CONFLICT' }) as Error,
  );
});

test('an approval rule that is revoked goes, and that is told', () => {
  const { changes, drops, result } = revoke.decide(loaded([rule()]), about('revoke_approval_rule'));
  expect(result).toEqual({ approval_rule: rule() });
  expect(drops).toEqual([{ kind: 'approval_rule', workspace_id: 'w', key: 'r' }]);
  expect(changes[0]?.entries.at(-1)).toMatchObject({
    body: 'asked again from now on: npm test*',
    metadata: { what: 'revoked' },
  });
  expect(() => revoke.decide(loaded([]), about('revoke_approval_rule'))).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND' }) as Error,
  );
});

test('an ask is answered in the name of who gave the rule, whose use is counted', () => {
  const options = [
    { id: 'no', label: 'No', kind: 'deny' as const },
    { id: 'yes', label: 'Yes', kind: 'allow_once' as const },
  ];
  const offers: [Partial<Ask>, { option?: string }][] = [
    [{}, {}],
    [{ options }, { option: 'yes' }],
    [{ options: options.slice(0, 1) }, {}],
  ];
  for (const [offered, chosen] of offers) {
    const given = ask(offered);
    const { result, records } = apply.decide(loaded([rule()], given), about('apply_approval_rule'));
    expect(result.ask).toStrictEqual({
      ...given,
      status: 'answering',
      verdict: {
        decision: 'approved',
        scope: 'rule',
        ...chosen,
        by: 'boss',
        device: 'r',
        at,
        reason: 'by the rule r: npm test*',
      },
    });
    expect(records).toMatchObject([
      { kind: 'ask', value: result.ask },
      { kind: 'approval_rule', value: { ...rule(), uses: 3, last_used_at: at } },
    ]);
  }
});

test('an ask that was settled, or whose rule is gone or does not fit, is left alone', () => {
  for (const [rules, given] of [
    [[rule()], ask({ status: 'answering' })],
    [[], ask()],
    [[rule({ command: 'make' })], ask()],
  ] as const)
    expect(apply.decide(loaded(rules, given), about('apply_approval_rule'))).toEqual({
      changes: [],
      result: { ask: given },
    });
  expect(() => apply.decide(loaded([rule()]), about('apply_approval_rule'))).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND' }) as Error,
  );
});

test('a rule grants a command of its agent, in its folder, in its time', () => {
  const granted = (given: Partial<ApprovalRuleRecord>, asked: Partial<Ask> = {}) =>
    grants(rule(given), ask(asked), NOW);
  expect(granted({})).toBe(true);
  expect(granted({ cwd: '/src' })).toBe(true);
  expect(granted({ expires_at: new Date(NOW + 1).toISOString() })).toBe(true);
  expect(granted({ expires_at: at })).toBe(false);
  expect(granted({ cwd: '/' })).toBe(false);
  expect(granted({ of_agent: 'bob' })).toBe(false);
  expect(granted({ command: 'make' })).toBe(false);
  expect(granted({}, { kind: 'question' })).toBe(false);
  expect(granted({ command: '*' }, { risk: 'high' })).toBe(false);
  const { command: _none, ...plain } = ask();
  expect(grants(rule({ command: '*' }), plain as Ask, NOW)).toBe(false);
});
