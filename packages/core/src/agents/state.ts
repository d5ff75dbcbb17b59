import type { Agent, AgentView, Ask, Session } from '@parley/protocol';

import type { Presence } from '../participation/presence.ts';

/** One way by which an agent is connected right now. */
export interface Link {
  how: string;
  since: number;
}

/** All that is known of one agent at one moment. */
export interface AgentFacts {
  agent: Agent | undefined;
  sessions: readonly Session[];
  presence: readonly Presence[];
  links: readonly Link[];
  openAsks: readonly Ask[];
  /** The oldest moment since which a thread of the agent holds messages it has not read. */
  unreadSince: number | undefined;
}

/** When silence and unread mail become worth a person's look. */
export interface Patience {
  stuckAfterMs: number;
  offlineAfterMs: number;
  unreadStuckMs: number;
}

export type Standing = Pick<AgentView, 'state' | 'reason' | 'since'>;

/** What an agent is at and why; the first that applies, from what needs a person to what does not. */
export function standing(facts: AgentFacts, patience: Patience, now: number): Standing {
  return (
    needsYou(facts) ??
    offline(facts, patience, now) ??
    failing(facts) ??
    stuck(facts, patience, now) ??
    calm(facts)
  );
}

function needsYou({ openAsks, agent }: AgentFacts): Standing | undefined {
  const ask = openAsks[0];
  if (ask !== undefined) {
    const what = ask.command === undefined ? ask.prompt : `asks to run: ${ask.command}`;
    return { state: 'needs_you', reason: oneLine(what), since: ask.created_at };
  }
  if (agent?.metadata?.['waiting'] !== 'prompt' || agent.status === 'offline') return undefined;
  return { state: 'needs_you', reason: 'waiting at a prompt', since: agent.status_since };
}

function offline(
  { agent, sessions, links, presence }: AgentFacts,
  { offlineAfterMs }: Patience,
  now: number,
) {
  if (links.length > 0 || presence.length > 0) return undefined;
  const alive = sessions.some(
    (session) => session.status !== 'offline' && now - Date.parse(session.last_heartbeat_at) < offlineAfterMs,
  );
  if (alive) return undefined;
  const reported =
    agent !== undefined && agent.status !== 'offline' ? Date.parse(agent.last_seen) : -Infinity;
  if (sessions.length === 0 && now - reported < offlineAfterMs) return undefined;
  const gone = agent?.status === 'offline' || sessions.some(({ status }) => status === 'offline');
  const since = lastSeen(agent, sessions);
  const reason = gone
    ? 'process gone'
    : since === undefined
      ? 'never seen'
      : 'silent; no connection and no heartbeat';
  return { state: 'offline', reason, since: since ?? new Date(now).toISOString() } as const;
}

function failing({ agent }: AgentFacts): Standing | undefined {
  if (agent === undefined) return undefined;
  const { last_event: event, status, status_since, metadata } = agent;
  const failed = event !== undefined && (event.event_type === 'error' || event.event_type === 'task_failed');
  // Who has said since then that all is well is believed.
  if (failed && (status === 'error' || event.at >= status_since))
    return { state: 'error', reason: oneLine(event.text), since: event.at };
  if (status !== 'error') return undefined;
  const why = metadata?.['error'] ?? metadata?.['currentTask'];
  return {
    state: 'error',
    reason: oneLine(typeof why === 'string' ? why : 'reports an error'),
    since: status_since,
  };
}

function stuck(
  facts: AgentFacts,
  { stuckAfterMs, unreadStuckMs }: Patience,
  now: number,
): Standing | undefined {
  const { agent, sessions, unreadSince, presence } = facts;
  const until = agent?.metadata?.['rateLimitedUntil'];
  if (typeof until === 'string' && Date.parse(until) > now)
    return { state: 'stuck', reason: `rate-limited until ${until}`, since: agent?.status_since ?? until };
  const busy = sessions.find(({ status }) => status === 'active');
  const heard = busy === undefined ? undefined : Date.parse(busy.last_heartbeat_at);
  if (
    heard !== undefined &&
    now - heard >= stuckAfterMs &&
    facts.links.length === 0 &&
    presence.length === 0
  ) {
    const reason = `silent for ${Math.round((now - heard) / 1_000)} s in the middle of work`;
    return { state: 'stuck', reason, since: new Date(heard).toISOString() };
  }
  if (unreadSince === undefined || now - unreadSince < unreadStuckMs) return undefined;
  return {
    state: 'stuck',
    reason: 'has unread messages and does not read',
    since: new Date(unreadSince).toISOString(),
  };
}

function calm({ agent, sessions, presence, links }: AgentFacts): Standing {
  const thinking = presence.find(({ state }) => state === 'thinking' || state === 'typing');
  if (thinking !== undefined)
    return { state: 'working', reason: thinking.state, since: new Date(thinking.since).toISOString() };
  const task = agent?.metadata?.['currentTask'];
  if (agent?.status === 'busy')
    return {
      state: 'working',
      reason: oneLine(typeof task === 'string' ? task : 'busy'),
      since: agent.status_since,
    };
  const active = sessions.find(({ status }) => status === 'active');
  if (active !== undefined)
    return {
      state: 'working',
      reason: `${active.runtime} session is active`,
      since: active.last_heartbeat_at,
    };
  const since =
    lastSeen(agent, sessions) ?? new Date(links[0]?.since ?? presence[0]?.since ?? 0).toISOString();
  return { state: 'idle', reason: 'nothing to do', since };
}

/** The newest sign of life that was recorded. */
export function lastSeen(agent: Agent | undefined, sessions: readonly Session[]): string | undefined {
  const seen = [agent?.last_seen, ...sessions.map((session) => session.last_heartbeat_at)];
  return seen
    .filter((at) => at !== undefined)
    .toSorted()
    .at(-1);
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= 160 ? line : `${line.slice(0, 159).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
