import type { AgentStretch, OutputOf } from '@parley/protocol';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How far back one can look, and at what distance the axis has its marks. */
export const WINDOWS = [
  { key: '1h', word: '1 h', says: 'the last hour', ms: HOUR, step: 10 * MINUTE },
  { key: '6h', word: '6 h', says: 'the last 6 hours', ms: 6 * HOUR, step: HOUR },
  { key: '', word: '24 h', says: 'the last 24 hours', ms: DAY, step: 3 * HOUR },
  { key: '7d', word: '7 d', says: 'the last 7 days', ms: 7 * DAY, step: DAY },
] as const;

/** One agent and what it was at, the oldest first. */
export type History = Pick<
  OutputOf<'list_agent_states'>['agents'][number],
  'agent_id' | 'stretches' | 'older_than'
>;

/** From when to when something is shown, in milliseconds. */
export interface Range {
  from: number;
  to: number;
}

/** A stretch with its place on the line, both from 0 to 1. */
export interface Placed {
  stretch: AgentStretch;
  x: number;
  width: number;
}

/** Where the stretches stand that lie in a range; what goes on lasts until its end. */
export function place(stretches: readonly AgentStretch[], { from, to }: Range): Placed[] {
  return stretches.flatMap((stretch) => {
    const start = Math.max(from, Date.parse(stretch.since));
    const end = Math.min(to, endOf(stretch, to));
    if (end <= start) return [];
    return [{ stretch, x: (start - from) / (to - from), width: (end - start) / (to - from) }];
  });
}

/** The stretch at a place of the line, or the one next to it. */
export function nearest(placed: readonly Placed[], x: number): Placed | undefined {
  const away = ({ x: start, width }: Placed): number => Math.max(start - x, x - (start + width), 0);
  return placed.reduce<Placed | undefined>(
    (best, one) => (best === undefined || away(one) <= away(best) ? one : best),
    undefined,
  );
}

/** How long an agent was in each state within a range. */
export function totals(
  stretches: readonly AgentStretch[],
  range: Range,
): Partial<Record<AgentStretch['state'], number>> {
  const sum: Partial<Record<AgentStretch['state'], number>> = {};
  for (const { stretch, width } of place(stretches, range))
    sum[stretch.state] = (sum[stretch.state] ?? 0) + width * (range.to - range.from);
  return sum;
}

/** How long a stretch lasted, in milliseconds. */
export function lengthOf(stretch: AgentStretch, now: number): number {
  return Math.max(0, endOf(stretch, now) - Date.parse(stretch.since));
}

/** Marks of an axis at full steps of the clock on the wall, each with its place from 0 to 1. */
export function marks({ from, to }: Range, step: number): { at: number; x: number }[] {
  const offset = new Date(to).getTimezoneOffset() * MINUTE;
  const found: { at: number; x: number }[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at < to; at += step)
    found.push({ at, x: (at - from) / (to - from) });
  return found;
}

/** A length of time in at most two units. */
export function lasting(ms: number): string {
  const minutes = Math.round(ms / MINUTE);
  if (minutes < 1) return `${Math.max(1, Math.round(ms / 1_000))} s`;
  if (minutes < 60) return `${minutes} min`;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours < 48) return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function endOf({ until }: AgentStretch, now: number): number {
  return until === null ? now : Date.parse(until);
}
