const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How far ahead a clock may step under a running hub, which knows better how much time has passed. */
export const STEP_MS = HOUR_MS;
/** How long a hub may have been stopped before its clock is doubted. */
export const STOPPED_MS = 3 * DAY_MS;
/** How long a doubted clock is looked at before it is believed. */
export const BELIEVED_AFTER_MS = DAY_MS;
const KEPT_JUMPS = 10;

/** A jump of the clock: what it should have shown, and what it showed. */
export interface Jump {
  from: number;
  to: number;
}

/** What is known of the wall clock; it stands beside the log, so that a restart forgets no doubt. */
export interface KnownTime {
  /** How far time has surely come: nothing is forgotten that was to be kept until later than that. */
  trusted: number;
  /** What the clock showed last. */
  seen: number;
  /** The clock has jumped ahead and is doubted: what it showed first. */
  doubted_from?: number;
  /** The last jumps, the newest last. */
  jumps: Jump[];
}

/** How the clock stands, for people. */
export interface ClockState {
  /** How far it is ahead of the time that has surely passed; 0 while it is trusted. */
  ahead_ms: number;
  /** When a doubted clock is believed, by its own time. */
  believed_at?: string;
  jumps: { from: string; to: string }[];
}

/** What people are told of the clock. */
export function clockState({ trusted, seen, doubted_from, jumps }: KnownTime): ClockState {
  const reported = jumps.map(({ from, to }) => ({ from: iso(from), to: iso(to) }));
  if (doubted_from === undefined) return { ahead_ms: 0, jumps: reported };
  return {
    ahead_ms: Math.round(seen - trusted),
    believed_at: iso(doubted_from + BELIEVED_AFTER_MS),
    jumps: reported,
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * What is known after a look at the clock. `elapsed` is how much time has passed since the last one by a clock that
 * cannot be set; undefined for the first look of a hub, which cannot tell how long it was stopped.
 */
export function lookAtClock(known: KnownTime, shown: number, elapsed: number | undefined): KnownTime {
  const expected = known.seen + (elapsed ?? 0);
  const surely = known.trusted + (elapsed ?? 0);
  const mostAhead = elapsed === undefined ? STOPPED_MS : STEP_MS;
  const isAhead = shown - expected > mostAhead;
  const isBack = expected - shown > STEP_MS;
  const jump = { from: expected, to: shown };
  const jumps = isAhead || isBack ? [...known.jumps, jump].slice(-KEPT_JUMPS) : known.jumps;
  const seen = { seen: shown, jumps };
  if (isAhead) return { ...seen, trusted: Math.min(surely, shown), doubted_from: shown };
  const doubted_from = Math.min(known.doubted_from ?? -Infinity, shown);
  // A start takes no doubt away: while it was stopped a clock that goes on from there has come no nearer to the truth.
  const stopped = elapsed === undefined ? shown - known.seen : -1;
  const slack = stopped >= 0 ? stopped + STEP_MS : mostAhead;
  const isDoubted = known.doubted_from !== undefined && shown > surely + slack;
  if (!isDoubted || shown - doubted_from >= BELIEVED_AFTER_MS) return { ...seen, trusted: shown };
  return { ...seen, trusted: surely, doubted_from };
}
