import { createHash } from 'node:crypto';

/** Names at the hub stay short enough for a word before them, as the sessions of their tokens have. */
const MOST = 110;

/**
 * The name of a team's agent at the hub: `<team>.<agent>`. A team's name has no dot, so two teams never share one; an
 * agent's name that the hub cannot take gets a mark that no agent's own name can have.
 */
export function hubNameOf(team: string, agent: string): string {
  const plain = `${team}.${agent}`;
  if (/^[A-Za-z0-9._-]+$/.test(agent) && plain.length <= MOST) return plain;
  const mark = `:${digestOf(agent)}`;
  return `${team}.${agent.replaceAll(/[^A-Za-z0-9._-]/g, '-')}`.slice(0, MOST - mark.length) + mark;
}

/** True for a name at the hub that belongs to the team, whoever bears it. */
export function isOfTeam(team: string, hubName: string): boolean {
  return hubName.startsWith(`${team}.`);
}

/** The names that one from the hub may have in a team, the better first: both lead to one inbox and to nobody else's. */
export function mailNamesOf(hubName: string): [string, string] {
  const marked = `hub-${hubName
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .slice(0, 40)}-${digestOf(hubName)}`;
  const isPlain = /^[a-z0-9_-]{1,40}$/.test(hubName) && !/-[0-9a-f]{16}$/.test(hubName);
  return [isPlain ? `hub-${hubName}` : marked, marked];
}

/** Sixteen signs that stand for a text. */
export function digestOf(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
