import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { hoursUntil } from './daily-hours.ts';

const at = (moment: string): number => Date.parse(moment);
const night = { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' };

test.each([
  ['in the evening', '2026-01-10T21:30:00Z', '2026-01-11T06:00:00Z'],
  ['after midnight', '2026-01-11T02:00:00Z', '2026-01-11T06:00:00Z'],
  ['in summer the same clock is another moment', '2026-07-10T20:30:00Z', '2026-07-11T05:00:00Z'],
])('%s the hours end in the morning of the person', (_name, now, end) => {
  expect(hoursUntil(night, at(now))).toBe(at(end));
});

test.each(['2026-01-11T06:00:00Z', '2026-01-11T12:00:00Z', '2026-01-11T20:59:00Z'])(
  'at %s the hours do not hold',
  (now) => {
    expect(hoursUntil(night, at(now))).toBeUndefined();
  },
);

test('hours that begin when they end are none', () => {
  expect(hoursUntil({ ...night, to: '22:00' }, at('2026-01-10T21:30:00Z'))).toBeUndefined();
});

test('the end is after now, at most a day away, and itself outside', () => {
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map(([h, m]) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`);
  const moment = fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2026-02-01T00:00:00Z') });
  fc.assert(
    fc.property(time, time, moment, (from, to, now) => {
      const hours = { from, to, time_zone: 'Asia/Kolkata' };
      const end = hoursUntil(hours, now);
      if (end === undefined) return;
      expect(end).toBeGreaterThan(now);
      expect(end - now).toBeLessThanOrEqual(86_400_000);
      expect(hoursUntil(hours, end)).toBeUndefined();
    }),
  );
});
