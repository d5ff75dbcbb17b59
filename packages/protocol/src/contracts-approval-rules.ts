import * as z from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { IdempotencyKey, Timestamp } from './entities.ts';
import { After, Limit, NextAfter } from './pages.ts';
import { Name, storableText } from './text.ts';

const Pattern = storableText({ maxBytes: 4_096 }).describe(
  'the whole command; each * is anything but what joins or redirects commands, quotes or substitutes',
);

/** An approval rule that a person gives in advance: asks that match it are approved at once, in their name. */
export const ApprovalRule = z
  .object({
    approval_rule_id: Name,
    of_agent: Name,
    command: z.string(),
    cwd: z.string().optional(),
    given_by: Name,
    created_at: Timestamp,
    expires_at: Timestamp.optional(),
    uses: z.number().int(),
    last_used_at: Timestamp.optional(),
  })
  .meta({ id: 'ApprovalRule' });
export type ApprovalRule = z.infer<typeof ApprovalRule>;

const listApprovalRules = contract({
  name: 'list_approval_rules',
  version: '1.0.0',
  title: 'List approval rules',
  description: 'The commands that are approved without asking; operators only.',
  input: z.object({ limit: Limit, after: After }),
  output: z.object({ approval_rules: z.array(ApprovalRule), next_after: NextAfter }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/approval_rules' },
  essential: false,
});

const addApprovalRule = contract({
  name: 'add_approval_rule',
  version: '1.0.0',
  title: 'Add an approval rule',
  description:
    'Approve such commands of one agent from now on without asking; never those of high risk. Operators only.',
  input: z.object({
    of_agent: Name,
    command: Pattern,
    cwd: storableText({ maxBytes: 4_096 }).optional().describe('only in this folder'),
    expires_in_ms: z.number().int().min(1_000).max(31_536_000_000).optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ approval_rule: ApprovalRule }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const revokeApprovalRule = contract({
  name: 'revoke_approval_rule',
  version: '1.0.0',
  title: 'Revoke an approval rule',
  description: 'From now on a person is asked again.',
  input: z.object({ approval_rule_id: Name, idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ approval_rule: ApprovalRule }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

/** By name: the table of contracts takes them from here. */
export const approvalRuleContracts = {
  list_approval_rules: listApprovalRules,
  add_approval_rule: addApprovalRule,
  revoke_approval_rule: revokeApprovalRule,
};
