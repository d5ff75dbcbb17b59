import { CALL_FACTS, type Contract, type ErrorCode, type OperationName } from '@parley/protocol';
import * as z from 'zod';

/** What any call with a token may be refused with. */
const ALWAYS: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'OUT_OF_SCOPE_WORKSPACE',
  'CLAIM_MISMATCH',
  'INSUFFICIENT_AUTHORITY',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

/** Those whose state may stand in the way of what is asked. */
const MAY_CONFLICT: readonly OperationName[] = [
  'create_thread',
  'post_message',
  'update_thread_status',
  'rename_thread',
  'control_thread',
  'set_presence',
  'assign_task',
  'report_result',
  'open_side_channel',
  'close_side_channel',
  'report_event',
  'command_agent',
  'forget_agent',
  'dismiss_error',
  'raise_ask',
  'ask_human',
  'answer_ask',
  'withdraw_ask',
  'create_document',
  'promote_thread',
  'update_document',
  'delete_document',
  'restore_document',
  'move_document',
  'revert_document',
  'import_documents',
  'add_approval_rule',
  'add_passkey',
  'challenge_ask',
  'add_channel',
  'update_channel',
  'test_channel',
];

const MORE: Partial<Record<OperationName, readonly ErrorCode[]>> = {
  trigger_participant: ['WAKE_FAILED', 'UNMANAGED_RUNTIME', 'HUMAN_INPUT_COLLISION'],
  command_agent: ['UNAVAILABLE'],
};

/** Fields by which something is named that may not be there. */
const NAMING = /_id$|^of_agent$|^target_agent_id$|^task$|^documents$|^delivery_ids$|^in_reply_to$/;

/** The codes that an operation may answer with on `/v1`; the test run holds every refusal against them. */
export function refusalsOf(contract: Contract): readonly ErrorCode[] {
  // A contract of the table is named as its operation.
  const name = contract.name as OperationName;
  const fields = contract.input instanceof z.ZodObject ? Object.keys(contract.input.shape) : [];
  return [
    ...new Set<ErrorCode>([
      ...ALWAYS,
      ...(fields.some((field) => NAMING.test(field)) ? (['NOT_FOUND'] as const) : []),
      ...(CALL_FACTS[name].includes('keyed') ? (['IDEMPOTENCY_CONFLICT'] as const) : []),
      ...(MAY_CONFLICT.includes(name) ? (['CONFLICT'] as const) : []),
      ...(MORE[name] ?? []),
    ]),
  ];
}
