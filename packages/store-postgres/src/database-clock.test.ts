import { expect, test } from 'vitest';

import { createDatabaseClock } from './database-clock.ts';

test('a node goes by the time of the database from the first answer on, whatever its own clock says then', () => {
  const at = { monotonic: 1_000, wall: 5_000_000 };
  const clock = createDatabaseClock(
    () => at.monotonic,
    () => at.wall,
  );
  expect(clock.now()).toBe(5_000_000);
  clock.heard(9_000_000, 1_000, 1_100);
  at.monotonic = 1_100;
  expect(clock.now()).toBe(9_000_050);
  at.wall += 3_600_000;
  at.monotonic = 2_100;
  expect(clock.now()).toBe(9_001_050);
});

test('what the way makes of it is no difference, a slow answer tells nothing, and a real one is followed', () => {
  let monotonic = 0;
  const clock = createDatabaseClock(() => monotonic);
  clock.heard(1_000_000, 0, 0);
  monotonic = 10_000;
  clock.heard(1_010_200, 10_000, 10_000);
  expect(clock.now()).toBe(1_010_000);
  clock.heard(1_099_000, 10_000, 12_000);
  expect(clock.now()).toBe(1_010_000);
  clock.heard(1_070_000, 10_000, 10_000);
  expect(clock.now()).toBe(1_070_000);
});
