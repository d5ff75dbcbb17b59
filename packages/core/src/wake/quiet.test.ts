import type { Quiet } from '@parley/protocol';
import { expect, test } from 'vitest';

import { quietNow } from './quiet.ts';

const at = (time: string): number => Date.parse(`2030-06-01T${time}:00Z`);
const quiet = (more: Partial<Quiet>): Quiet => ({
  agent_id: 'bob',
  by: 'ann',
  since: '2030-01-01T00:00:00Z',
  ...more,
});
const night = quiet({ hours: { from: '22:00', to: '07:00', time_zone: 'UTC' } });
const endOf = (kept: Quiet[], now: number): string | undefined => {
  const until = quietNow(kept, now)?.until;
  return until === undefined ? undefined : new Date(until).toISOString();
};

test.each([
  ['21:59', false],
  ['22:00', true],
  ['23:59', true],
  ['00:00', true],
  ['06:59', true],
  ['07:00', false],
  ['12:00', false],
])('hours go over midnight: %s', (time, isQuiet) => {
  expect(quietNow([night], at(time)) !== undefined).toBe(isQuiet);
});

test('hours are of their own time zone, and end at their end', () => {
  const berlin = quiet({ hours: { from: '12:00', to: '13:30', time_zone: 'Europe/Berlin' } });
  expect(quietNow([berlin], at('09:59'))).toBeUndefined();
  expect(endOf([berlin], at('10:15'))).toBe('2030-06-01T11:30:00.000Z');
  expect(quietNow([berlin], at('11:30'))).toBeUndefined();
  expect(endOf([night], at('23:10'))).toBe('2030-06-02T07:00:00.000Z');
});

test('a quiet ends by itself, never without an end, and of two the later end counts', () => {
  const short = quiet({ until: '2030-06-01T10:00:00.000Z' });
  const long = quiet({ agent_id: null, until: '2030-06-01T11:00:00.000Z' });
  expect(endOf([short], at('09:59'))).toBe('2030-06-01T10:00:00.000Z');
  expect(quietNow([short], at('10:00'))).toBeUndefined();
  expect(endOf([short, long], at('09:00'))).toBe('2030-06-01T11:00:00.000Z');
  expect(quietNow([quiet({}), long], at('09:00'))).toMatchObject({ until: undefined });
  expect(quietNow([], at('09:00'))).toBeUndefined();
});
