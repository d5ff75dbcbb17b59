import {
  type AgentView,
  type Ask,
  type AskVerdict,
  HUB_NAME,
  type ThreadEvent,
  type ThreadStatus,
  keysOf,
} from '@parley/protocol';

import { whenTime } from './time.ts';

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
export const STATES = keysOf(STATE_WORDS);

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
  if (kind === 'approval') return command === undefined ? 'asks for approval' : 'wants to run a command';
  return 'asks';
}

/** How an ask ended, in a few words. */
export function verdictOf(
  { decision, option, scope, by }: AskVerdict,
  options: Ask['options'],
  self: string,
): string {
  const who = by === self ? 'you' : by === HUB_NAME ? 'time running out' : by;
  const label = options?.find(({ id }) => id === option)?.label;
  if (decision === 'withdrawn') return by === HUB_NAME ? 'Withdrawn' : 'Withdrawn by the agent';
  if (decision === 'answered') return `Answered by ${who}${label === undefined ? '' : `: ${label}`}`;
  const how = scope === 'session' ? ' for this session' : scope === 'rule' ? ' for good' : '';
  return `${decision === 'approved' ? 'Approved' : 'Denied'}${how} by ${who}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Orders names as people do: numbers inside them by their value. */
export const byName = (a: string, b: string): number => names.compare(a, b) || (a < b ? -1 : 1);

const URGENCY: AgentView['state'][] = ['needs_you', 'error', 'stuck', 'working', 'idle', 'offline'];

/** Orders agents by how much they concern a person, those of one state by who is in it longest, then by name. */
export function byUrgency(a: AgentView, b: AgentView): number {
  const step = URGENCY.indexOf(a.state) - URGENCY.indexOf(b.state);
  if (step !== 0) return step;
  const isPressing = a.state === 'needs_you' || a.state === 'error' || a.state === 'stuck';
  if (isPressing && a.since !== b.since) return a.since < b.since ? -1 : 1;
  return byName(a.agent_id, b.agent_id);
}

export { folderOf } from '@parley/protocol';

/** What an agent is made of: its runtime and its model, where it says so. */
export function makeOf({ runtimes, metadata = {}, type }: AgentView): string {
  const model = metadata['model'];
  const parts = [runtimes[0]?.replaceAll('_', ' '), typeof model === 'string' ? model : undefined];
  const said = parts.filter((part) => part !== undefined).join(' · ');
  return said !== '' ? said : type;
}

/** Why an agent does not get on, and what became of it since it failed. */
export function troubleOf({ reason, failure, meanwhile }: AgentView): string {
  const words = plainTimes(failure?.text ?? reason);
  const then = THEN[meanwhile?.state ?? 'idle'];
  return then === undefined ? words : `${words} · ${then}`;
}

const THEN: Partial<Record<AgentView['state'], string>> = {
  working: 'at work again',
  stuck: 'stuck since then',
  offline: 'gone since then',
};

/** A text of the hub with its moments as people tell them. */
export function plainTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, (moment) => whenTime(moment));
}

/** The kind of event that a message reports; empty for what is just said. */
export function reportedAs({ meta }: ThreadEvent): string {
  // The same words in what is just said are nobody's event.
  const kind = meta.kind === 'event' ? meta.metadata?.['event_type'] : undefined;
  return typeof kind === 'string' ? kind : '';
}

/** What an entry says as text: a result may be data. */
export function textOf(content: unknown): string {
  return typeof content === 'string' ? content : `\`\`\`json\n${JSON.stringify(content, null, 2)}\n\`\`\``;
}
