import { ParleyError } from '@parley/protocol';

import { failureRules } from './agents/failure.ts';
import { forgetRules } from './agents/forget.ts';
import { agentRules } from './agents/rules.ts';
import { stateRules } from './agents/state-rules.ts';
import { artifactRules } from './artifacts/rules.ts';
import { approvalRuleCommands } from './asks/approval-rule-commands.ts';
import { askRules } from './asks/rules.ts';
import { clockRules } from './clock-rules.ts';
import type { Command, Decision, Loaded, Needs, ResultOf, Rule } from './commands.ts';
import { envelopeRules } from './envelope/rules.ts';
import { personRules } from './devices/person-rules.ts';
import { deviceRules } from './devices/rules.ts';
import { offerRules } from './evidence/rules.ts';
import { followerRules } from './follower-rules.ts';
import { checkFence } from './leases/lease-record.ts';
import { leaseRules } from './leases/rules.ts';
import { treeRules } from './knowledge/rules.ts';
import { messageRules } from './messages/rules.ts';
import { notifyRules } from './notify/rules.ts';
import { passkeyRules } from './passkeys/rules.ts';
import { participationRules } from './participation/rules.ts';
import { sideRules } from './participation/side-rules.ts';
import { queueRules } from './queue/rules.ts';
import { sessionRules } from './sessions/rules.ts';
import { threadRules } from './threads/rules.ts';
import { usageRules } from './usage/rules.ts';
import { wakeRules } from './wake/rules.ts';

/** The rule of each command. */
const RULES: { [T in Command['type']]: Rule<Extract<Command, { type: T }>> } = {
  ...threadRules,
  ...messageRules,
  ...participationRules,
  ...sideRules,
  ...sessionRules,
  ...agentRules,
  ...stateRules,
  ...forgetRules,
  ...failureRules,
  ...askRules,
  ...approvalRuleCommands,
  ...passkeyRules,
  ...offerRules,
  ...usageRules,
  ...wakeRules,
  ...treeRules,
  ...artifactRules,
  ...envelopeRules,
  ...queueRules,
  ...deviceRules,
  ...personRules,
  ...notifyRules,
  ...clockRules,
  ...followerRules,
  ...leaseRules,
};

/** What must be loaded before a command can be decided. */
export function needs(command: Command): Needs {
  // As in `decide`.
  const wanted = (RULES[command.type] as Rule<Command>).needs(command);
  return command.fence === undefined ? wanted : { ...wanted, lease: command.fence.lease };
}

/**
 * A command is decided at the moment of its turn, which the store knows, however long it waited. A gate that is ahead of
 * it is believed only where it is further ahead than it can be wrong: of what comes later no time is earlier.
 */
export function takeTurn(command: Command, at: number, error = 0): void {
  if (command.now <= at + error) command.now = at;
}

/** The one place where a change is allowed or refused: pure, synchronous, the same in every store. */
export function decide<C extends Command>(loaded: Loaded, command: C): Decision<ResultOf<C['type']>> {
  const { deadline, fence, now } = command;
  if (deadline !== undefined && deadline < now)
    throw new ParleyError('EXPIRED', `this was good until ${new Date(deadline).toISOString()}`);
  if (fence !== undefined) checkFence(loaded.lease, fence);
  // The table pairs each type with its own rule; of one that is known only when it runs, the compiler sees the union.
  return (RULES[command.type] as Rule<C>).decide(loaded, command);
}
