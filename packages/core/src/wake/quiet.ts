import type { Quiet } from '@parley/protocol';

/** The name under which the quiet of a whole workspace is kept: no agent may bear it. */
export const EVERYBODY = '*';

/** The quiet that keeps an agent from being woken now, and the moment of its end, if it has one. */
export function quietNow(
  kept: readonly Quiet[],
  now: number,
): { quiet: Quiet; until: number | undefined } | undefined {
  const standing = kept.flatMap((quiet) => {
    const until = endOf(quiet, now);
    return until === false ? [] : [{ quiet, until }];
  });
  // Whoever is quiet twice is quiet until both have ended.
  return standing.toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity))[0];
}

/** When a quiet ends; false where it does not hold now, undefined where it holds until it is taken back. */
function endOf({ until, hours }: Quiet, now: number): number | undefined | false {
  if (until !== undefined && Date.parse(until) <= now) return false;
  if (hours === undefined) return until === undefined ? undefined : Date.parse(until);
  const [from, to, at] = [minutesOf(hours.from), minutesOf(hours.to), minuteIn(hours.time_zone, now)];
  const isWithin = from < to ? at >= from && at < to : at >= from || at < to;
  if (!isWithin) return false;
  const end = now - (now % 60_000) + ((to - at + DAY) % DAY) * 60_000;
  return until === undefined ? end : Math.min(end, Date.parse(until));
}

const DAY = 1_440;

function minutesOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
}

function minuteIn(timeZone: string, now: number): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return minutesOf(format.format(now));
}
