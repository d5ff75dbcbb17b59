import type { Quiet } from '@parley/protocol';

import { hoursUntil } from '../daily-hours.ts';

/** The name under which the quiet of a whole workspace is kept: no agent may bear it. */
export const EVERYBODY = '*';

/** The name under which a quiet is kept. */
export function quietKey({ agent_id }: Quiet): string {
  return agent_id ?? EVERYBODY;
}

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
  const end = hoursUntil(hours, now);
  if (end === undefined) return false;
  return until === undefined ? end : Math.min(end, Date.parse(until));
}
