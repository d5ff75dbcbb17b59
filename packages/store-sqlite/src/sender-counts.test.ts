import { expect, onTestFinished, test } from 'vitest';

import { Batches } from './batches.ts';
import { SampleCommands } from './sample-commands.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import { createNumbering, createSenderCounts, type EndedRun, senderIn, SenderRuns } from './sender-counts.ts';
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
  const counts = createSenderCounts(db);
  const thread = (id: number) => ({ id, open: counts.open(id) });
  return { db, counts, one: thread(1), two: thread(2), thread };
}

const SEQS = [0, 1, 2, 3];

/** What is written of the first thread, the open run last. */
function runsIn(db: DatabaseSync): string[] {
  const ended = db.prepare<EndedRun>('SELECT * FROM entries_by_sender WHERE thread = 1 ORDER BY seq').all();
  const last = createSenderCounts(db).open(1);
  return [
    ...ended.map(({ sender, seq, last: end, nth }) => `${sender} ${seq}–${end} from ${nth}`),
    ...(last === undefined ? [] : [`${last.sender} ${last.seq}– from ${last.nth}`]),
  ];
}

test('entries are numbered among those of their sender, in each thread apart; the newest run stands in the head', () => {
  const { db, counts, one, two } = open();
  expect(runsIn(db)).toEqual(['alice 0–1 from 1', 'bob 2–2 from 1', 'alice 3– from 3']);
  expect(SEQS.map((seq) => counts.through(one, 'alice', seq))).toEqual([1, 2, 2, 3]);
  expect(SEQS.map((seq) => counts.through(one, 'bob', seq))).toEqual([0, 0, 1, 1]);
  expect(counts.through(two, 'alice', 0)).toBe(1);
  expect(['alice', 'bob', 'carol'].map((sender) => counts.ended(1, sender))).toEqual([2, 1, 0]);
  expect(SEQS.map((seq) => counts.has(one, 'alice', seq))).toEqual([true, true, false, true]);
  expect(SEQS.map((seq) => counts.has(one, 'bob', seq))).toEqual([false, false, true, false]);
  expect(counts.has(one, 'carol', 1)).toBe(false);
  expect([1, 2, 3].map((nth) => counts.has(one, 'alice', 1, nth))).toEqual([false, true, false]);
  expect([2, 3, 4].map((nth) => counts.has(one, 'alice', 3, nth))).toEqual([false, true, false]);
  expect(counts.isWhole(one)).toBe(true);
  expect(counts.isWhole(two)).toBe(true);
});

const FIRST = "WHERE thread = 1 AND sender = 'alice' AND seq = 0";

test.each([
  ['changed', `UPDATE entries_by_sender SET nth = 7 ${FIRST}`],
  ['drawn out', `UPDATE entries_by_sender SET last = 2 ${FIRST}`],
  ['with another sum', `UPDATE entries_by_sender SET sum = 'x' ${FIRST}`],
])('[R11] a number that was %s is refused, and the thread is not whole', (_how, sql) => {
  const { db, counts, one, two } = open();
  db.exec(sql);
  for (const seq of [0, 1, 2]) expect(() => counts.through(one, 'alice', seq)).toThrow('alice’s entry 0');
  expect(() => counts.ended(1, 'alice')).toThrow('alice’s entry 0');
  expect(counts.through(one, 'alice', 3)).toBe(3);
  expect(counts.has(one, 'alice', 1)).toBe(false);
  expect(counts.isWhole(one)).toBe(false);
  expect(counts.isWhole(two)).toBe(true);
});

test('a run that is gone, doubled or of another leaves the thread not whole, and all can be made anew', () => {
  const { db, counts, one, thread } = open();
  db.exec(`DELETE FROM entries_by_sender ${FIRST}`);
  // The others are sound in themselves, and yet do not follow.
  expect(counts.isWhole(one)).toBe(false);
  counts.put(1, { sender: 'zoe', seq: 0, last: 1, nth: 1 });
  expect(counts.isWhole(one)).toBe(false);
  expect(createNumbering(db)(1)).toEqual(one.open);
  expect(counts.isWhole(thread(1))).toBe(true);
  expect(counts.through(one, 'alice', 3)).toBe(3);
  expect(counts.isWhole({ id: 1, open: undefined })).toBe(false);
  expect(counts.isWhole({ id: 1, open: { sender: 'alice', seq: 3, nth: 2 } })).toBe(false);
  expect(counts.isWhole({ id: 1, open: { sender: 'alice', seq: 2, nth: 3 } })).toBe(false);
  // One that goes on where it had ended is one run, not two.
  counts.drop(1);
  counts.put(1, { sender: 'alice', seq: 0, last: 2, nth: 1 });
  expect(counts.isWhole({ id: 1, open: { sender: 'alice', seq: 3, nth: 4 } })).toBe(false);
  counts.drop(1);
  expect(counts.isWhole({ id: 1, open: { sender: 'alice', seq: 0, nth: 1 } })).toBe(true);
});

test('an entry that cannot be read has no sender and no number', () => {
  const { db, counts } = open();
  const damage = (seq: number) =>
    db.exec(
      `DROP TRIGGER IF EXISTS entries_never_change; UPDATE entries SET json = '{' WHERE thread = 1 AND seq = ${seq}`,
    );
  damage(1);
  expect(senderIn('{')).toBeUndefined();
  const head = createNumbering(db)(1);
  expect(head).toEqual({ sender: 'alice', seq: 3, nth: 2 });
  expect(counts.through({ id: 1, open: head }, 'alice', 2)).toBe(1);
  expect(counts.isWhole({ id: 1, open: head })).toBe(false);
  damage(3);
  expect(createNumbering(db)(1)).toBeUndefined();
  expect(counts.ended(1, 'bob')).toBe(1);
});

test('a run goes on over commits and starts; what is numbered anew is what was written', () => {
  const { db, counts, thread } = open();
  const sample = new SampleCommands();
  const post = (...senders: string[]) => {
    const replies = new Batches(db).run(senders.map((sender) => sample.post(sender, 0, 'more')));
    expect(replies.every(({ ok }) => ok !== undefined)).toBe(true);
  };
  post('alice', 'alice');
  expect(runsIn(db).at(-1)).toBe('alice 3– from 3');
  post('alice', 'bob');
  post('bob', 'bob', 'alice');
  const written = ['alice 0–1 from 1', 'bob 2–2 from 1', 'alice 3–6 from 3', 'bob 7–9 from 2'];
  expect(runsIn(db)).toEqual([...written, 'alice 10– from 7']);
  expect(counts.isWhole(thread(1))).toBe(true);
  const live = db.prepare('SELECT * FROM entries_by_sender').all();
  expect(createNumbering(db)(1)).toEqual(counts.open(1));
  expect(db.prepare('SELECT * FROM entries_by_sender').all()).toEqual(live);
});

test('a run ends where another begins to write, or where nobody knows who did', () => {
  const runs = new SenderRuns({ sender: 'alice', seq: 4, nth: 2 });
  expect(runs.add('alice', 5)).toBeUndefined();
  expect(runs.add('bob', 6)).toEqual({ sender: 'alice', seq: 4, last: 5, nth: 2 });
  expect(runs.add(undefined, 7)).toEqual({ sender: 'bob', seq: 6, last: 6, nth: 1 });
  expect(runs.open).toBeUndefined();
  expect(runs.add('alice', 8)).toBeUndefined();
  expect(runs.open).toEqual({ sender: 'alice', seq: 8, nth: 4 });
});
