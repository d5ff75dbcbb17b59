import { expect, onTestFinished, test } from 'vitest';

import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import { Tallies, tallyOf } from './tallies.ts';

function open() {
  const folder = sampleFolder();
  const db = openSample(folder);
  onTestFinished(() => {
    db.close();
    removeFolder(folder);
  });
  return { db, tallies: new Tallies(db) };
}

/** Sums that stand on both sides of the sign bit. */
const LOW = (0x7000_0001).toString(36);
const HIGH = (0xf000_0003).toString(36);
const OTHER = (0x8000_0010).toString(36);

test('rows are counted as they come, change and go, and the count is the one that a look at them gives', () => {
  const { db, tallies } = open();
  const stands = (): unknown => new Tallies(db).read('x');
  const check = (...sums: string[]): void => {
    tallies.flush();
    expect(stands()).toEqual(tallyOf(sums));
    expect(tallies.read('x')).toEqual(tallyOf(sums));
  };
  expect(stands()).toBeUndefined();
  tallies.replace('x', undefined, HIGH);
  expect(stands()).toBeUndefined();
  check(HIGH);
  expect(stands()).toEqual({ rows: 1, sums: 0xf000_0003 });
  tallies.replace('x', undefined, LOW);
  check(HIGH, LOW);
  expect(stands()).toEqual({ rows: 2, sums: 0x8000_0002 });
  tallies.replace('x', HIGH, OTHER);
  check(LOW, OTHER);
  tallies.replace('x', LOW, undefined);
  check(OTHER);
  // Another connection goes on from what stands there.
  const next = new Tallies(db);
  next.add('x', 2, 0x8000_0000);
  next.flush();
  expect(stands()).toEqual({ rows: 3, sums: 0x10 });
  next.set('y', { rows: 7, sums: 7 });
  next.flush();
  expect(next.names().filter((name) => name < 'z' && name >= 'x')).toEqual(['x', 'y']);
});

test('what was counted for a transaction that was rolled back is not counted', () => {
  const { db, tallies } = open();
  tallies.replace('x', undefined, LOW);
  tallies.flush();
  tallies.replace('x', undefined, HIGH);
  tallies.forget();
  tallies.flush();
  expect(tallies.read('x')).toEqual(tallyOf([LOW]));
  // Nor is it the ground for what comes next.
  tallies.replace('x', undefined, OTHER);
  tallies.flush();
  expect(new Tallies(db).read('x')).toEqual(tallyOf([LOW, OTHER]));
});

test('what has not changed is not written again, and a count that another hand changed is none', () => {
  const { db, tallies } = open();
  tallies.replace('x', undefined, LOW);
  tallies.flush();
  db.exec("UPDATE tallies SET rows = 5 WHERE name = 'x'");
  tallies.flush();
  expect(tallies.read('x')).toBeUndefined();
  expect(tallies.names()).toContain('x');
});
