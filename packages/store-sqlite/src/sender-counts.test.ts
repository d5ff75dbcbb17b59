import { expect, onTestFinished, test } from 'vitest';

import { Batches } from './batches.ts';
import { SampleCommands } from './sample-commands.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import { createNumbering, createSenderCounts, senderIn, type SenderRun } from './sender-counts.ts';
import type { DatabaseSync } from './sqlite.ts';

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

function rowsIn(db: DatabaseSync): string[] {
  const rows = db.prepare<SenderRun>('SELECT * FROM entries_by_sender WHERE thread = 1 ORDER BY sender, seq');
  return rows.all().map(({ sender, seq, last, nth }) => `${sender} ${seq}–${last} from ${nth}`);
}

test('entries are numbered among those of their sender, in each thread apart; what stands side by side is one row', () => {
  const { db, counts } = open();
  expect(rowsIn(db)).toEqual(['alice 0–1 from 1', 'alice 3–3 from 3', 'bob 2–2 from 1']);
  expect(SEQS.map((seq) => counts.through(1, 'alice', seq))).toEqual([1, 2, 2, 3, 3]);
  expect(SEQS.map((seq) => counts.through(1, 'bob', seq))).toEqual([0, 0, 1, 1, 1]);
  expect(counts.through(2, 'alice', 9)).toBe(1);
  expect(SEQS.map((seq) => counts.has(1, 'alice', seq))).toEqual([true, true, false, true, false]);
  expect(counts.has(1, 'carol', 1)).toBe(false);
  expect([1, 2, 3].map((nth) => counts.has(1, 'alice', 1, nth))).toEqual([false, true, false]);
  expect([3, 4, 5].map((entries) => counts.isWhole(1, entries))).toEqual([false, true, false]);
  expect(counts.isWhole(2, 1)).toBe(true);
});

const FIRST = "WHERE thread = 1 AND sender = 'alice' AND seq = 0";

test.each([
  ['changed', `UPDATE entries_by_sender SET nth = 7 ${FIRST}`],
  ['drawn out', `UPDATE entries_by_sender SET last = 2 ${FIRST}`],
  ['with another sum', `UPDATE entries_by_sender SET sum = 'x' ${FIRST}`],
])('[R11] a number that was %s is refused, and the thread is not whole', (_how, sql) => {
  const { db, counts } = open();
  db.exec(sql);
  for (const seq of [0, 1, 2]) expect(() => counts.through(1, 'alice', seq)).toThrow('alice’s entry 0');
  expect(counts.through(1, 'alice', 3)).toBe(3);
  expect(counts.has(1, 'alice', 1)).toBe(false);
  expect(counts.isWhole(1, 4)).toBe(false);
  expect(counts.isWhole(2, 1)).toBe(true);
});

test('a number that is gone leaves a hole, and all numbers of a thread can be made anew', () => {
  const { db, counts } = open();
  db.exec(`DELETE FROM entries_by_sender ${FIRST}`);
  // Sound in itself, and yet not the next one.
  expect(counts.isWhole(1, 2)).toBe(false);
  counts.put(1, { sender: 'zoe', seq: 8, last: 8, nth: 1 });
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

test('a run goes on over commits and starts; what is numbered anew is what was written', () => {
  const { db } = open();
  const sample = new SampleCommands();
  const post = (...senders: string[]) => {
    const replies = new Batches(db).run(senders.map((sender) => sample.post(sender, 0, 'more')));
    expect(replies.every(({ ok }) => ok !== undefined)).toBe(true);
  };
  post('alice', 'alice');
  post('alice', 'bob');
  post('bob', 'bob', 'alice');
  const written = ['alice 0–1 from 1', 'alice 3–6 from 3', 'alice 10–10 from 7'];
  expect(rowsIn(db)).toEqual([...written, 'bob 2–2 from 1', 'bob 7–9 from 2']);
  const live = db.prepare('SELECT * FROM entries_by_sender').all();
  createNumbering(db)(1);
  expect(db.prepare('SELECT * FROM entries_by_sender').all()).toEqual(live);
});
