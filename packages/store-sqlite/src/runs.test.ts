import { rowSum } from '@parley/store-rows';
import { expect, onTestFinished, test } from 'vitest';

import { Batches } from './batches.ts';
import { Runs } from './runs.ts';
import { SampleCommands } from './sample-commands.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';

/** A log of five rows: two of the north, one of the south, two of the north. */
function open() {
  const folder = sampleFolder();
  const db = openSample(folder);
  onTestFinished(() => {
    db.close();
    removeFolder(folder);
  });
  const sample = new SampleCommands();
  const [north, south] = [{ workspace: 'north' }, { workspace: 'south' }];
  const replies = new Batches(db).run([
    sample.create(0, ['alice'], undefined, 'north'),
    sample.post('alice', 0, 'one', north),
    sample.create(1, ['alice'], undefined, 'south'),
    sample.post('alice', 0, 'two', north),
    sample.post('alice', 0, 'three', north),
    sample.post('alice', 1, 'four', south),
  ]);
  expect(replies.every(({ ok }) => ok !== undefined)).toBe(true);
  return { db, runs: new Runs(db) };
}

const ROWS = [0, 1, 2, 3, 4, 5, 6, 7];

test('[R4] the rows of the log are counted for each workspace apart', () => {
  const { runs } = open();
  expect(ROWS.map((pos) => runs.upTo('north', pos))).toEqual([0, 1, 2, 2, 3, 4, 4, 4]);
  expect(ROWS.map((pos) => runs.upTo('south', pos))).toEqual([0, 0, 0, 1, 1, 1, 2, 2]);
  expect(['north', 'south', 'west'].map((name) => runs.head(name))).toEqual([4, 2, 0]);
  expect(['', 'north', 'south'].map((name) => runs.next(name))).toEqual(['north', 'south', undefined]);
});

test('[R11] a run that is not as it was written counts nothing', () => {
  const { db, runs } = open();
  db.exec('UPDATE runs SET place = 9 WHERE pos = 4');
  for (const count of [() => runs.head('north'), () => runs.upTo('north', 5)])
    expect(count).toThrow('the positions of workspace north');
  expect(runs.upTo('north', 3)).toBe(2);
  expect(runs.head('south')).toBe(2);
});

test('[R6] a cursor of the one count stands where it stood; without such a count, it is what it says', () => {
  const { db, runs } = open();
  const places = (): number[] => ROWS.map((cursor) => runs.placeOf('north', cursor));
  expect(places()).toEqual(ROWS);
  const put = db.prepare("INSERT OR REPLACE INTO followers (name, pos, sum) VALUES ('one count', ?, ?)");
  put.run(3, rowSum('one count', 3));
  expect(places()).toEqual([0, 1, 2, 2, 4, 5, 6, 7]);
  // Where nobody knows how far it had come, the cursor that gives an entry twice is the safe one.
  put.run(3, 'x');
  expect(places()).toEqual([0, 1, 2, 2, 3, 4, 4, 4]);
});
