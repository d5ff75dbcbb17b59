import type { Ask, AskAnswer, AskContent } from '@parley/protocol';

import type { InThread } from '../command.ts';
import type { PasskeyProof } from '../passkeys/passkey-record.ts';
import type { Passkeys } from '../passkeys/ports.ts';
import type { ApprovalRuleRecord } from './approval-rule.ts';

export type RaiseAsk = InThread<'raise_ask', AskContent & { expires_in_ms: number }, { ask: Ask }> & {
  ask_id: string;
  /** The commands that whoever runs the hub calls high risk. */
  listed?: readonly string[];
  demanded?: Passkeys['demanded'];
};
export type AnswerAsk = InThread<'answer_ask', AskAnswer, { ask: Ask }> & {
  ask_id: string;
  demanded?: Passkeys['demanded'];
  /** What a passkey signed, held against its signature already. */
  proof?: PasskeyProof;
};
/** The agent has the verdict in hand. */
export type TakeAsk = InThread<'take_ask', Record<string, never>, { ask: Ask }> & { ask_id: string };
/** The agent needs no answer any more. */
export type WithdrawAsk = InThread<'withdraw_ask', { reason: string }, { ask: Ask }> & { ask_id: string };
/** Its time is up: the hub itself denies it. */
export type ExpireAsk = InThread<'expire_ask', Record<string, never>, { ask: Ask }> & { ask_id: string };
/** The session that raised it is gone: the hub itself withdraws it. */
export type DropAsk = InThread<'drop_ask', { gone_since: string }, { ask: Ask }> & { ask_id: string };
/** A person allows something in advance. */
/** `thread_id` of all that is allowed in advance is the journal of the agent. */
export type AddApprovalRule = InThread<'add_approval_rule', object, { approval_rule: ApprovalRuleRecord }> & {
  approval_rule: ApprovalRuleRecord;
};
export type RevokeApprovalRule = InThread<
  'revoke_approval_rule',
  { approval_rule_id: string },
  { approval_rule: ApprovalRuleRecord }
>;
/** The hub answers an ask by what a person has allowed. */
export type ApplyApprovalRule = InThread<
  'apply_approval_rule',
  { approval_rule_id: string },
  { ask: Ask }
> & {
  ask_id: string;
};

/** What changes what agents ask of people. */
export type AskCommands =
  | RaiseAsk
  | AnswerAsk
  | TakeAsk
  | WithdrawAsk
  | ExpireAsk
  | DropAsk
  | AddApprovalRule
  | RevokeApprovalRule
  | ApplyApprovalRule;
