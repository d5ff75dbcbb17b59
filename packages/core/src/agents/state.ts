import { type Agent, type AgentView, type Ask, plainWords } from '@parley/protocol';

import type { Presence } from '../participation/presence.ts';
import type { StoredSession } from '../sessions/stored-session.ts';
import { openFailure } from './failure.ts';

/** One way by which an agent is connected right now. */
export interface Link {
  how: string;
  since: number;
  /** The session whose connection it is. */
  caller?: { session_id: string };
  /** The commands it named when it registered; undefined where it did not. */
  takes?: readonly string[];
}

/** All that is known of one agent at one moment. */
export interface AgentFacts {
  agent: Agent | undefined;
  sessions: readonly StoredSession[];
  presence: readonly Presence[];
  links: readonly Link[];
  openAsks: readonly Ask[];
  /** When the oldest message was posted that the agent has neither acknowledged nor fetched. */
  unreadSince: number | undefined;
  /** When a person last answered it, or its ask ended otherwise. */
  askEnded?: number | undefined;
}

/** When silence and unread mail become worth a person's look. */
export interface Patience {
  stuckAfterMs: number;
  offlineAfterMs: number;
  unreadStuckMs: number;
  /** How long one who is gone may take to come back before its asks are withdrawn. */
  returnMs: number;
}

export type Standing = Pick<AgentView, 'state' | 'reason' | 'since' | 'waits_for'>;

/** What an agent is at and why; the first that applies, from what needs a person to what does not. */
export function standing(facts: AgentFacts, patience: Patience, now: number): Standing {
  return needsYou(facts) ?? failing(facts) ?? otherwise(facts, patience, now);
}

/** What an agent is at apart from what a person should see to: one that has failed may be gone, or at work again. */
export function otherwise(facts: AgentFacts, patience: Patience, now: number): Standing {
  const lost = now - patience.offlineAfterMs;
  // What a session said that has long fallen silent holds no more.
  const heard = facts.sessions.filter((session) => Date.parse(session.last_heartbeat_at) > lost);
  const current = { ...facts, sessions: deciding(heard) };
  return (
    offline(facts, patience, now) ?? stuck(current, patience, now) ?? working(current) ?? idle(current, now)
  );
}

/** A session that somebody has in hand tells what the agent is at; the others then only tell that it lives. */
function deciding(sessions: readonly StoredSession[]): readonly StoredSession[] {
  const managed = sessions.filter(({ management_mode }) => management_mode === 'managed');
  return managed.length > 0 ? managed : sessions;
}

function needsYou({ openAsks, agent }: AgentFacts): Standing | undefined {
  // An answer would reach nobody who is gone.
  const ask = openAsks.find(({ agent_gone_since }) => agent_gone_since === undefined);
  if (ask !== undefined) {
    const what = ask.command === undefined ? plainWords(ask.prompt) : `asks to run: ${ask.command}`;
    const waits_for = { what: 'answer', ask_id: ask.ask_id } as const;
    return { state: 'needs_you', reason: oneLine(what), since: ask.created_at, waits_for };
  }
  if (agent?.metadata?.['waiting'] !== 'prompt' || agent.status === 'offline') return undefined;
  return {
    state: 'needs_you',
    reason: 'waiting at a prompt',
    since: agent.status_since,
    waits_for: { what: 'prompt' },
  };
}

function offline(
  facts: AgentFacts,
  { offlineAfterMs }: Pick<Patience, 'offlineAfterMs'>,
  now: number,
): Standing | undefined {
  const { links, presence } = facts;
  if (links.length > 0 || presence.length > 0) return undefined;
  const words = signs(facts);
  const last = words[0];
  if (last === undefined) return { state: 'offline', reason: 'never seen', since: iso(now) };
  // One session may end while another goes on; who takes leave himself has gone with all of them.
  const alive = words.find(({ gone, by }, i) => !gone && (by === 'session' || i === 0));
  if (alive !== undefined && now - alive.at < offlineAfterMs) return undefined;
  const reason = last.gone ? 'process gone' : 'silent; no connection and no heartbeat';
  return { state: 'offline', reason, since: iso(last.at) };
}

/** True for one of whom nothing is heard any more, as far as is on record: its connections are not. */
export function isGone(
  facts: Pick<AgentFacts, 'agent' | 'sessions'>,
  offlineAfterMs: number,
  now: number,
): boolean {
  const unconnected = { ...facts, presence: [], links: [], openAsks: [], unreadSince: undefined };
  return offline(unconnected, { offlineAfterMs }, now) !== undefined;
}

interface Sign {
  at: number;
  by: 'agent' | 'session';
  /** It took leave. */
  gone: boolean;
}

/** What was heard of an agent and is on record, the newest first. */
function signs({ agent, sessions }: AgentFacts): Sign[] {
  const heard: Sign[] = sessions.map(({ last_heartbeat_at, status }) => ({
    at: Date.parse(last_heartbeat_at),
    by: 'session',
    gone: status === 'offline',
  }));
  if (agent !== undefined)
    heard.push({ at: Date.parse(agent.last_seen), by: 'agent', gone: agent.status === 'offline' });
  heard.sort((a, b) => b.at - a.at);
  const leave = heard.findIndex(({ by, gone }) => by === 'agent' && gone);
  return leave < 0 ? heard : heard.slice(0, leave + 1);
}

/** What an agent failed with stays until a person has dismissed it. */
function failing({ agent }: AgentFacts): Standing | undefined {
  const failure = openFailure(agent);
  return failure && { state: 'error', reason: oneLine(failure.text), since: failure.at };
}

function stuck(facts: AgentFacts, patience: Patience, now: number): Standing | undefined {
  const { agent, unreadSince } = facts;
  const until = agent?.status === 'offline' ? undefined : agent?.metadata?.['rateLimitedUntil'];
  if (typeof until === 'string' && Date.parse(until) > now)
    return {
      state: 'stuck',
      reason: `rate-limited until ${oneLine(until)}`,
      since: agent?.status_since ?? '',
      waits_for: { what: 'rate_limit', until: oneLine(until) },
    };
  const silence = silentSince(facts);
  if (silence !== undefined && now - silence >= patience.stuckAfterMs) {
    const reason = `silent for ${span(now - silence)} in the middle of work`;
    return { state: 'stuck', reason, since: iso(silence) };
  }
  // Who is at work reads when it is done, and who waited for a person could not read meanwhile.
  if (unreadSince === undefined || working(facts) !== undefined) return undefined;
  const lies = Math.max(unreadSince, ...freeSince(facts));
  if (now - lies < patience.unreadStuckMs) return undefined;
  const reason = `has had unread messages for ${span(now - unreadSince)} and does not read`;
  return { state: 'stuck', reason, since: iso(lies) };
}

/** Since when an agent could have read: the end of its work, and of its last ask. */
function freeSince({ agent, sessions, askEnded }: AgentFacts): number[] {
  const rests = [
    ...(agent === undefined || agent.status === 'busy' ? [] : [agent.status_since]),
    ...sessions.filter(({ status }) => status === 'idle').map(({ since }) => since),
  ].map((at) => Date.parse(at));
  return [...rests, ...(askEnded === undefined ? [] : [askEnded])].filter((at) => !Number.isNaN(at));
}

/** When an agent that said it is at work was last heard; undefined where it is at rest, or connected. */
function silentSince(facts: AgentFacts): number | undefined {
  const { agent, sessions, links, presence } = facts;
  if (links.length > 0 || presence.length > 0) return undefined;
  const busy = agent?.status === 'busy' || sessions.some(({ status }) => status === 'active');
  return busy ? signs(facts)[0]?.at : undefined;
}

function working({ agent, sessions, presence }: AgentFacts): Standing | undefined {
  const thinking = presence.find(({ state }) => state === 'thinking' || state === 'typing');
  if (thinking !== undefined) return { state: 'working', reason: thinking.state, since: iso(thinking.since) };
  const task = agent?.metadata?.['currentTask'];
  if (agent?.status === 'busy')
    return {
      state: 'working',
      reason: oneLine(typeof task === 'string' ? task : 'busy'),
      since: agent.status_since,
    };
  const active = sessions
    .filter(({ status }) => status === 'active')
    .toSorted((a, b) => (a.last_heartbeat_at < b.last_heartbeat_at ? 1 : -1))[0];
  if (active === undefined) return undefined;
  return { state: 'working', reason: `${oneLine(active.runtime)} session is active`, since: active.since };
}

function idle({ agent, sessions, presence, links }: AgentFacts, now: number): Standing {
  const changes = [
    agent?.status_since,
    ...sessions.map(({ since }) => since),
    ...links.map(({ since }) => iso(since)),
    ...presence.map(({ since }) => iso(since)),
  ].filter((at) => at !== undefined);
  // Whoever saw to it knows; the agent itself has not said yet that all is well.
  const reason = agent?.status === 'error' ? 'its error was dismissed' : 'nothing to do';
  return { state: 'idle', reason, since: changes.toSorted().at(-1) ?? iso(now) };
}

/** The newest sign of life that was recorded. */
export function lastSeen(facts: Pick<AgentFacts, 'agent' | 'sessions'>): string | undefined {
  const seen = [facts.agent?.last_seen, ...facts.sessions.map((session) => session.last_heartbeat_at)];
  return seen
    .filter((at) => at !== undefined)
    .toSorted()
    .at(-1);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function span(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= 160 ? line : `${line.slice(0, 159).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
