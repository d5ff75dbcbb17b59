import { expect, onTestFinished, test } from 'vitest';

import { Batches } from './batches.ts';
import { SampleCommands } from './sample-commands.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import { createNumbering, createSenderCounts, senderIn } from './sender-counts.ts';

/** Two threads: in the first alice wrote the entries 0, 1 and 3, bob 2; the second is alice's alone. */
function open() {
  const folder = sampleFolder();
  const db = openSample(folder);
  onTestFinished(() => {
    db.close();
    removeFolder(folder);
  });
  const sample = new SampleCommands();
  const replies = new Batches(db).run([
    sample.create(0, ['alice', 'bob']),
    sample.post('alice', 0, 'one'),
    sample.post('bob', 0, 'two'),
    sample.post('alice', 0, 'three'),
    sample.create(1, ['alice']),
  ]);
  expect(replies.every(({ ok }) => ok !== undefined)).toBe(true);
  return { db, counts: createSenderCounts(db) };
}

const SEQS = [0, 1, 2, 3, 9];

test('entries are numbered among those of their sender, in each thread apart', () => {
  const { counts } = open();
  expect(SEQS.map((seq) => counts.through(1, 'alice', seq))).toEqual([1, 2, 2, 3, 3]);
  expect(SEQS.map((seq) => counts.through(1, 'bob', seq))).toEqual([0, 0, 1, 1, 1]);
  expect(counts.through(2, 'alice', 9)).toBe(1);
  expect(SEQS.map((seq) => counts.has(1, 'alice', seq))).toEqual([true, true, false, true, false]);
  expect(counts.has(1, 'carol', 1)).toBe(false);
  expect([1, 2, 3].map((nth) => counts.has(1, 'alice', 1, nth))).toEqual([false, true, false]);
  expect([3, 4, 5].map((entries) => counts.isWhole(1, entries))).toEqual([false, true, false]);
  expect(counts.isWhole(2, 1)).toBe(true);
});

test.each([
  ['changed', 'UPDATE entries_by_sender SET nth = 7 WHERE thread = 1 AND seq = 1'],
  ['with another sum', "UPDATE entries_by_sender SET sum = 'x' WHERE thread = 1 AND seq = 1"],
])('[R11] a number that was %s is refused, and the thread is not whole', (_how, sql) => {
  const { db, counts } = open();
  db.exec(sql);
  for (const seq of [1, 2]) expect(() => counts.through(1, 'alice', seq)).toThrow('alice’s entry 1');
  expect(counts.through(1, 'alice', 3)).toBe(3);
  expect(counts.has(1, 'alice', 1)).toBe(false);
  expect(counts.isWhole(1, 4)).toBe(false);
  expect(counts.isWhole(2, 1)).toBe(true);
});

test('a number that is gone leaves a hole, and all numbers of a thread can be made anew', () => {
  const { db, counts } = open();
  db.exec('DELETE FROM entries_by_sender WHERE thread = 1 AND seq = 1');
  // Sound in itself, and yet not the next one.
  expect(counts.isWhole(1, 3)).toBe(false);
  counts.put(1, 'zoe', 8, 1);
  createNumbering(db)(1);
  expect(counts.isWhole(1, 4)).toBe(true);
  expect(counts.through(1, 'alice', 9)).toBe(3);
  counts.drop(1);
  expect(counts.isWhole(1, 0)).toBe(true);
  expect(counts.isWhole(2, 1)).toBe(true);
});

test('an entry that cannot be read has no sender and no number', () => {
  const { db, counts } = open();
  db.exec("DROP TRIGGER entries_never_change; UPDATE entries SET json = '{' WHERE thread = 1 AND seq = 1");
  expect(senderIn('{')).toBeUndefined();
  createNumbering(db)(1);
  expect(counts.through(1, 'alice', 9)).toBe(2);
  expect(counts.isWhole(1, 3)).toBe(true);
});
