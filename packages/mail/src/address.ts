import { ParleyError } from '@parley/protocol';

/** Whose inbox is meant. */
export interface Address {
  agent: string;
  team: string;
}

const LONGEST = 128;

/** Reads `agent` or `agent@team`, by way of the user's aliases. */
export function parseAddress(text: string, ownTeam: string, aliases: ReadonlyMap<string, string>): Address {
  const meant = aliases.get(text.trim()) ?? text.trim();
  const parts = meant.split('@');
  const [agent = '', team = ownTeam] = parts;
  if (parts.length > 2 || !isName(agent) || !isName(team))
    throw new ParleyError(
      'VALIDATION_ERROR',
      `${JSON.stringify(text)} is no address; write agent, or agent@team`,
    );
  return { agent, team };
}

/** Refuses what cannot be the name of an agent or a team. */
export function checkName(what: string, name: string): string {
  if (isName(name)) return name;
  throw new ParleyError('VALIDATION_ERROR', `${JSON.stringify(name)} cannot be the name of ${what}`);
}

/** The name of a file or folder, as Claude Code makes it from a name. */
export function fileName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '-');
}

/** True when two names mean one inbox, or would on a file system that does not tell capitals apart. */
export function sameInbox(a: string, b: string): boolean {
  return fileName(a).toLowerCase() === fileName(b).toLowerCase();
}

function isName(name: string): boolean {
  // Letters that a file name cannot keep are replaced; what smells of a path is refused.
  return name.length <= LONGEST && /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]*$/u.test(name) && !name.includes('..');
}
