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
  const { command, cwd, metadata } = content;
  if (command === undefined || (!isRun(metadata) && isEdit(command))) return content;
  const risk_hints = riskHints(command, cwd, listed);
  return risk_hints.length === 0 ? content : { ...content, risk: 'high', risk_hints };
}

/** True where the driver of an agent says that it is a command, whatever it looks like. */
function isRun(metadata: AskContent['metadata']): boolean {
  const { kind, tool } = metadata ?? {};
  return kind === 'command' || kind === 'execute' || tool === 'Bash';
}

/** A patch, or an edit with its file. */
const EDIT = /^(?:(?:add|update|delete|edit|create|move) \S[^\n]*\n|diff --git |--- \S|\*\*\* Begin)/i;
/** The changes of a file, below its name. */
const CHANGES = /^([^\n]+)\n[-+]/;
/** A tool, or none, and its arguments: `[ -d x ] && …` and `{ …; }` are commands. */
const CALL = /^(?:[\w.-]+ )?([{[][^]*)$/;

/** True for what does not look like a command: it is shown as the agent calls it, and no rule is spared a look at it. */
function isEdit(text: string): boolean {
  const [, name] = CHANGES.exec(text) ?? [];
  if (name !== undefined) return riskHints(name).length === 0;
  return EDIT.test(text) || isJson(CALL.exec(text)?.[1]);
}

function isJson(text: string | undefined): boolean {
  if (text === undefined) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
