import { OPERATIONS } from '../../packages/core/src/operations.ts';
import type { OperationName, Role } from '@parley/protocol';

const EVERYBODY: readonly Role[] = ['operator', 'orchestrator', 'worker', 'observer'];
const ACTORS = EVERYBODY.slice(0, 3);
const STEERING = EVERYBODY.slice(0, 2);
const PERSON = EVERYBODY.slice(0, 1);

/** Where a rule asks for more than the gate does; a test calls each operation in each role. */
const FEWER: { readonly [N in OperationName]?: readonly Role[] } = {
  answer_ask: PERSON,
  forget_agent: PERSON,
  dismiss_error: PERSON,
  list_devices: PERSON,
  pair_device: PERSON,
  revoke_device: PERSON,
  list_channels: PERSON,
  add_channel: PERSON,
  update_channel: PERSON,
  remove_channel: PERSON,
  test_channel: PERSON,
  list_approval_rules: PERSON,
  add_approval_rule: PERSON,
  revoke_approval_rule: PERSON,
  list_passkeys: PERSON,
  begin_passkey: PERSON,
  add_passkey: PERSON,
  remove_passkey: PERSON,
  challenge_ask: PERSON,
  describe_hub: PERSON,
  command_agent: STEERING,
  check_reach: STEERING,
  update_document: STEERING,
  delete_document: STEERING,
  restore_document: STEERING,
  move_document: STEERING,
  revert_document: STEERING,
};

/** What holds beside the role. */
export const ALSO: { readonly [N in OperationName]?: string } = {
  create_document: 'A worker creates where `knowledge.agents_create_under` allows it.',
  get_usage: 'A worker sees its own usage alone.',
  set_quiet: 'A worker may ask for itself alone (`of_agent` is its own name).',
  should_respond: 'A worker may ask for itself alone.',
  withdraw_ask: 'Only whoever raised the ask withdraws it.',
  wait_for_ask: 'Only whoever raised the ask waits for it.',
  close_side_channel: 'Whoever opened it, an operator or an orchestrator.',
  trigger_participant: 'Only an operator may set `force`.',
  update_thread_status: 'What a worker may not do stands under [statuses](../guide.md#statuses).',
  control_thread: 'Who may give which control stands under [controls](../faces/events.md#controls).',
};

/** The roles that may call an operation. */
export function rolesOf(name: OperationName): readonly Role[] {
  return FEWER[name] ?? (OPERATIONS[name].authority === 'look' ? EVERYBODY : ACTORS);
}

/** The same in words. */
export function whoMay(name: OperationName): string {
  const roles = rolesOf(name);
  if (roles.length === 4) return 'every role';
  if (roles.length === 3) return 'every role but observer';
  return roles.join(', ');
}
