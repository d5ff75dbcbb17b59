import type { AgentView, Ask, AskVerdict, ThreadEvent, ThreadStatus } from '@parley/protocol';

import { clockTime } from './time.ts';

/** The word for each state of an agent; colour alone says nothing. */
export const STATE_WORDS: Record<AgentView['state'], string> = {
  needs_you: 'Needs you',
  stuck: 'Stuck',
  error: 'Error',
  working: 'Working',
  idle: 'Idle',
  offline: 'Offline',
};

/** The states in the order in which they concern a person. */
export const STATES = Object.keys(STATE_WORDS) as AgentView['state'][];

export const STATUS_WORDS: Record<ThreadStatus, string> = {
  active: 'Active',
  blocked: 'Blocked',
  resolved: 'Resolved',
  closed: 'Closed',
};

/** What an ask is about, after the agent's name. */
export function wishOf({ kind, command }: Ask): string {
  if (kind === 'budget') return 'needs more budget';
  if (kind === 'elicitation') return 'needs a form filled in';
  if (kind === 'approval') return command === undefined ? 'asks for leave' : 'wants to run a command';
  return 'asks';
}

/** How an ask ended, in a few words. */
export function verdictOf(
  { decision, option, scope, by }: AskVerdict,
  options: Ask['options'],
  self: string,
): string {
  const who = by === self ? 'you' : by === 'parley' ? 'time running out' : by;
  const label = options?.find(({ id }) => id === option)?.label;
  if (decision === 'withdrawn') return 'Withdrawn by the agent';
  if (decision === 'answered') return `Answered by ${who}${label === undefined ? '' : `: ${label}`}`;
  const how = scope === 'session' ? ' for this session' : scope === 'rule' ? ' for good' : '';
  return `${decision === 'approved' ? 'Approved' : 'Denied'}${how} by ${who}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** The folder an agent works in, as it reports it. */
export function folderOf(agent: AgentView): string | undefined {
  const { metadata = {} } = agent;
  for (const name of ['worktree', 'cwd', 'folder']) {
    const value = metadata[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

/** What an agent is made of: its runtime and its model, where it says so. */
export function makeOf({ runtimes, metadata = {}, type }: AgentView): string {
  const model = metadata['model'];
  const parts = [runtimes[0]?.replaceAll('_', ' '), typeof model === 'string' ? model : undefined];
  const said = parts.filter((part) => part !== undefined).join(' · ');
  return said !== '' ? said : type;
}

/** A text of the hub with its moments as people tell them. */
export function plainTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, (moment) => clockTime(moment));
}

/** The kind of event that a message reports; empty for what is just said. */
export function reportedAs({ meta }: ThreadEvent): string {
  // The same words in what is just said are nobody's event.
  const kind = meta.kind === 'event' ? meta.metadata?.['event_type'] : undefined;
  return typeof kind === 'string' ? kind : '';
}
