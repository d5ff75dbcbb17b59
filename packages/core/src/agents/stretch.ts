import type { AgentStretch } from '@parley/protocol';

/** What an agent was at for a while, as it is kept; without an end it is at it still. */
export interface AgentStateRecord extends Omit<AgentStretch, 'until'> {
  agent_id: string;
  workspace_id: string;
  from: string;
  /** Since when it was so by its own account; silence has another reason with every minute, and one beginning. */
  since: string;
  until?: string;
}

/** What is seen of an agent at one look. */
export type SeenState = Pick<AgentStateRecord, 'state' | 'reason' | 'since' | 'waits_for' | 'thread_id'>;

/** Other words alone begin no new stretch within this time, however often an agent says what it is at. */
export const WORDS_MS = 60_000;
/** A hub that was stopped for less than this has missed nothing. */
export const MISSED_MS = 10_000;

/** What is looked at: an agent, when, and if the hub did not run until just now, when it ran last. */
export interface Look {
  who: Pick<AgentStateRecord, 'agent_id' | 'workspace_id'>;
  now: number;
  ranUntil?: number | undefined;
}

/**
 * What is to be written after a look: nothing while an agent is at the same, else the end of what it was at and what it
 * is at now. Stretches of one agent never overlap; between two of them lies only the time in which no hub looked.
 */
export function afterLook(
  open: AgentStateRecord | undefined,
  seen: SeenState,
  { who, now, ranUntil }: Look,
): AgentStateRecord[] {
  const since = Date.parse(seen.since);
  const begun = (from: number): AgentStateRecord => ({ ...who, ...seen, from: iso(from) });
  if (open === undefined) return [begun(Number.isNaN(since) ? now : Math.min(since, now))];
  const start = Date.parse(open.from);
  const missed =
    ranUntil !== undefined && now - ranUntil >= MISSED_MS ? Math.max(ranUntil, start) : undefined;
  if (missed === undefined && isSame(open, seen, now - start)) return [];
  const known = missed ?? start;
  const from = since > known ? Math.min(since, now) : now;
  // It was that for no time at all, or the clock was set back.
  if (from <= start) return [begun(start)];
  return [{ ...open, until: iso(Math.min(missed ?? from, from)) }, begun(from)];
}

function isSame(open: AgentStateRecord, seen: SeenState, lasted: number): boolean {
  if (open.state !== seen.state || open.thread_id !== seen.thread_id) return false;
  const [was, is] = [open.waits_for, seen.waits_for];
  if (was?.what !== is?.what || was?.ask_id !== is?.ask_id || was?.until !== is?.until) return false;
  return open.reason === seen.reason || open.since === seen.since || lasted < WORDS_MS;
}

/** Under which a stretch is kept: by the time of its beginning. */
export function stretchKey({ agent_id, from }: Pick<AgentStateRecord, 'agent_id' | 'from'>): string {
  return `${from} ${agent_id}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
