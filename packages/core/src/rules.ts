import { ParleyError } from '@parley/protocol';

import { agentRules } from './agents/rules.ts';
import { artifactRules } from './artifacts/rules.ts';
import { leaveRules } from './asks/leave-rules.ts';
import { askRules } from './asks/rules.ts';
import { clockRules } from './clock-rules.ts';
import type { Command, Decision, Loaded, Needs, Rule } from './commands.ts';
import { envelopeRules } from './envelope/rules.ts';
import { deviceRules } from './devices/rules.ts';
import { offerRules } from './evidence/rules.ts';
import { treeRules } from './knowledge/rules.ts';
import { messageRules } from './messages/rules.ts';
import { notifyRules } from './notify/rules.ts';
import { participationRules } from './participation/rules.ts';
import { sideRules } from './participation/side-rules.ts';
import { queueRules } from './queue/rules.ts';
import { sessionRules } from './sessions/rules.ts';
import { threadRules } from './threads/rules.ts';
import { wakeRules } from './wake/rules.ts';

/** The rule of each command. */
const RULES: { [T in Command['type']]: Rule<Extract<Command, { type: T }>> } = {
  ...threadRules,
  ...messageRules,
  ...participationRules,
  ...sideRules,
  ...sessionRules,
  ...agentRules,
  ...askRules,
  ...leaveRules,
  ...offerRules,
  ...wakeRules,
  ...treeRules,
  ...artifactRules,
  ...envelopeRules,
  ...queueRules,
  ...deviceRules,
  ...notifyRules,
  ...clockRules,
};

/** What must be loaded before a command can be decided. */
export function needs(command: Command): Needs {
  return (RULES[command.type] as Rule<Command>).needs(command);
}

/**
 * Its turn has come: whatever ends at a time is decided by the time of the decision, and never by that of a gate which
 * the command has left long ago. A clock that was set back takes nothing back.
 */
export function takeTurn(command: Command, at: number): void {
  if (at > command.now) command.now = at;
}

/** The one place where a change is allowed or refused: pure, synchronous, the same in every store. */
export function decide(loaded: Loaded, command: Command): Decision {
  const { deadline, now } = command;
  if (deadline !== undefined && deadline < now)
    throw new ParleyError('EXPIRED', `this was good until ${new Date(deadline).toISOString()}`);
  return (RULES[command.type] as Rule<Command>).decide(loaded, command);
}
