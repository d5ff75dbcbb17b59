import { ParleyError } from '@parley/protocol';

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads 90s, 15m, 12h, 7d; a bare number counts seconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+)(ms|s|m|h|d)?$/.exec(text);
  if (match === null)
    throw new ParleyError('VALIDATION_ERROR', `${text} is not a duration; write 90s, 15m, 12h or 7d`);
  return Number(match[1]) * (UNITS[match[2] ?? 's'] ?? 1);
}

/** Reads a duration that must lie within bounds, which are told as they are written. */
export function durationWithin(least: string, most: string): (text: string) => number {
  return (text) => {
    const duration = parseDuration(text);
    if (duration >= parseDuration(least) && duration <= parseDuration(most)) return duration;
    throw new ParleyError('VALIDATION_ERROR', `${text} is out of range; write ${least} to ${most}`);
  };
}
