import { expect, test } from 'vitest';

import { BELIEVED_AFTER_MS, type KnownTime, lookAtClock, STEP_MS, STOPPED_MS } from './trusted-time.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.parse('2030-01-01T00:00:00Z');
const known: KnownTime = { trusted: START, seen: START, jumps: [] };

test('a clock that goes on is trusted, and so is one that steps a little', () => {
  expect(lookAtClock(known, START + 1_000, 1_000)).toEqual({
    trusted: START + 1_000,
    seen: START + 1_000,
    jumps: [],
  });
  expect(lookAtClock(known, START + STEP_MS, 0).trusted).toBe(START + STEP_MS);
  expect(lookAtClock(known, START - 1_000, 1_000).trusted).toBe(START - 1_000);
});

test('a jump ahead of a running hub is doubted, and over when the clock comes back', () => {
  const ahead = lookAtClock(known, START + 60 * DAY, 1_000);
  expect(ahead).toMatchObject({ trusted: START + 1_000, doubted_from: START + 60 * DAY });
  const later = lookAtClock(ahead, START + 60 * DAY + HOUR, HOUR);
  expect(later).toMatchObject({ trusted: START + 1_000 + HOUR, doubted_from: START + 60 * DAY });
  const back = lookAtClock(later, START + 2 * HOUR, HOUR - 1_000);
  expect(back).toEqual({
    trusted: START + 2 * HOUR,
    seen: START + 2 * HOUR,
    jumps: [
      { from: START + 1_000, to: START + 60 * DAY },
      { from: START + 60 * DAY + 2 * HOUR - 1_000, to: START + 2 * HOUR },
    ],
  });
});

test('a restart does not end the doubt; a day that was seen, or went by while the hub was stopped, does', () => {
  const ahead = lookAtClock(known, START + 89 * DAY, 0);
  const again = lookAtClock(ahead, START + 89 * DAY + HOUR, undefined);
  expect(again).toMatchObject({ trusted: START, doubted_from: START + 89 * DAY });
  const believed = { trusted: START + 91 * DAY, seen: START + 91 * DAY };
  const stopped = lookAtClock(again, START + 91 * DAY, undefined);
  expect(stopped).toMatchObject(believed);
  expect(stopped.doubted_from).toBeUndefined();
  const running = lookAtClock(again, START + 89 * DAY + BELIEVED_AFTER_MS, BELIEVED_AFTER_MS - HOUR);
  expect(running.trusted).toBe(START + 90 * DAY);
});

test('a jump of hours that is doubted stays so over restarts, though no stop would be too long for it', () => {
  const ahead = lookAtClock(known, START + 2 * DAY, 0);
  const again = lookAtClock(ahead, START + 2 * DAY + HOUR, undefined);
  expect(again).toMatchObject({ trusted: START, doubted_from: START + 2 * DAY });
  const once = lookAtClock(again, START + 2 * DAY + 2 * HOUR, undefined);
  expect(once).toMatchObject({ trusted: START, doubted_from: START + 2 * DAY });
  const running = lookAtClock(once, START + 2 * DAY + 3 * HOUR, HOUR);
  expect(running).toMatchObject({ trusted: START + HOUR, doubted_from: START + 2 * DAY });
  // Put right while the hub was stopped, it is believed.
  expect(lookAtClock(ahead, START + 5 * HOUR, undefined)).toMatchObject({ trusted: START + 5 * HOUR });
});

test('one jump after another is doubted from the last on, and a clock that comes half-way back from there', () => {
  const first = lookAtClock(known, START + 30 * DAY, 0);
  const second = lookAtClock(first, START + 60 * DAY, undefined);
  expect(second).toMatchObject({ trusted: START, doubted_from: START + 60 * DAY });
  const half = lookAtClock(second, START + 10 * DAY, 0);
  expect(half).toMatchObject({ trusted: START, doubted_from: START + 10 * DAY });
});

test('a hub that was stopped for some days believes its clock, for a long time it does not', () => {
  expect(lookAtClock(known, START + STOPPED_MS, undefined).trusted).toBe(START + STOPPED_MS);
  expect(lookAtClock(known, START + STOPPED_MS + 1, undefined)).toMatchObject({ trusted: START });
});

test('trusted time is never ahead of the clock, and a clock that was far behind is doubted when it is put right', () => {
  const behind = lookAtClock(known, START - 365 * DAY, 0);
  expect(behind).toMatchObject({ trusted: START - 365 * DAY });
  expect(behind.doubted_from).toBeUndefined();
  const right = lookAtClock(behind, START, 0);
  expect(right).toMatchObject({ trusted: START - 365 * DAY, doubted_from: START });
});
