import type { Ask, AskContent } from '@parley/protocol';

import { riskHints } from './risk-hints.ts';

/** True for what a person is always asked: the agent calls it high risk, or the hub itself sees that in the command. */
export function isHighRisk(
  { risk, command, cwd }: Pick<Ask, 'risk' | 'command' | 'cwd'>,
  listed?: readonly string[],
): boolean {
  return risk === 'high' || (command !== undefined && riskHints(command, cwd, listed).length > 0);
}

/** What is asked, with the higher of two words on its risk: the agent's own, and what the hub sees in the command. */
export function weighed(
  content: AskContent,
  listed?: readonly string[],
): AskContent & Pick<Ask, 'risk_hints'> {
  const { command, cwd } = content;
  if (command === undefined || isEdit(command)) return content;
  const risk_hints = riskHints(command, cwd, listed);
  return risk_hints.length === 0 ? content : { ...content, risk: 'high', risk_hints };
}

/** A patch, an edit with its file, a call of a tool with its arguments. */
const EDIT =
  /^(?:(?:add|update|delete|edit|create|move) \S[^\n]*\n|diff --git |--- \S|\*\*\* Begin|\w+ \{|[{[]|[^\n]+\n[-+])/i;

/** True for what does not look like a command: it is shown as the agent calls it, and no rule is spared a look at it. */
function isEdit(text: string): boolean {
  return EDIT.test(text);
}
