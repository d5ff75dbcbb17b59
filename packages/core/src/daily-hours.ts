import type { DailyHours } from '@parley/protocol';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** When the hours that hold at this moment end; undefined outside of them. */
export function hoursUntil({ from, to, time_zone }: DailyHours, now: number): number | undefined {
  const [start, end, clock] = [minutesOf(from), minutesOf(to), minutesIn(time_zone, now)];
  if (start === end) return undefined;
  const sinceStart = (clock - start + DAY_MINUTES) % DAY_MINUTES;
  const length = (end - start + DAY_MINUTES) % DAY_MINUTES;
  if (sinceStart >= length) return undefined;
  // Where a clock is put forward or back meanwhile, the question is asked once more at that moment.
  return Math.floor(now / MINUTE_MS) * MINUTE_MS + (length - sinceStart) * MINUTE_MS;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** The time of day in a zone. */
function minutesIn(zone: string, now: number): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(now);
  return minutesOf(parts);
}
