import * as z from 'zod';

const TimeOfDay = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as 22:00' });

const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, { error: 'must be a time zone such as Europe/Berlin' })
  .default('UTC');

/** The fields of hours that come every day; where `from` is the later one they go over midnight. */
export const HOURS = { from: TimeOfDay, to: TimeOfDay, time_zone: TimeZone };

/** Hours of each day. */
export const DailyHours = z
  .object(HOURS)
  .refine(({ from, to }) => from !== to, { error: 'from and to must differ' });
export type DailyHours = z.infer<typeof DailyHours>;

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== '';
  } catch {
    return false;
  }
}
