import type { Ask, ApprovalRule } from '@parley/protocol';

import { isHighRisk } from './weigh-risk.ts';

/** An approval rule that a person has given in advance, as it is kept. */
export interface ApprovalRuleRecord extends ApprovalRule {
  workspace_id: string;
}

/** What could make two commands of one, or something else of it, is never covered by a star. */
const SHARP = /[;&|<>$`(){}\n\r\\'"]/;

/**
 * True when a command is what a pattern says: letter by letter, and for each star anything harmless. Each piece is
 * looked for where it comes first, so that the time it takes grows with the length of the command alone.
 */
export function covers(pattern: string, command: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return command === first;
  if (!command.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = command.indexOf(piece, at);
    if (found < 0 || SHARP.test(command.slice(at, found))) return false;
    at = found + piece.length;
  }
  const end = command.length - last.length;
  return end >= at && command.endsWith(last) && !SHARP.test(command.slice(at, end));
}

/** True when an approval rule answers an ask: a command of that agent, in that folder. What is of high risk is always asked. */
export function grants(approval_rule: ApprovalRule, ask: Ask, now: number): boolean {
  const { agent_id, kind, command, cwd } = ask;
  return (
    kind === 'approval' &&
    command !== undefined &&
    approval_rule.of_agent === agent_id &&
    (approval_rule.cwd === undefined || approval_rule.cwd === cwd) &&
    (approval_rule.expires_at === undefined || Date.parse(approval_rule.expires_at) > now) &&
    covers(approval_rule.command, command) &&
    ask.needs_passkey !== true &&
    !isHighRisk(ask)
  );
}
