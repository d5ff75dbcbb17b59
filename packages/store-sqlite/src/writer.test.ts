import fs, { copyFileSync, cpSync, fstatSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

import type { Committed } from '@parley/core';
import { expect, onTestFinished, test } from 'vitest';

import { Batches } from './batches.ts';
import { checkRecord } from './check-record.ts';
import { number } from './number.ts';
import { DATABASE_FILE } from './open-store.ts';
import { SampleCommands, sampleSide, sampleThread } from './sample-commands.ts';
import { tamper } from './sample-damage.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import { sqliteModule } from './sqlite.ts';
import type { Reply } from './thread-protocol.ts';

/** More than the writer keeps in mind. */
const THREADS = 2_000;
/** The number of the first side channel, as a thread. */
const SIDES = 1_000;

function open() {
  const folder = sampleFolder();
  const db = openSample(folder);
  onTestFinished(() => {
    if (db.isOpen) db.close();
    removeFolder(folder);
  });
  return { folder, db, batches: new Batches(db), sample: new SampleCommands() };
}

const committed = (replies: readonly Reply[]): Record<string, unknown>[] =>
  replies.map((reply) => {
    if (reply.ok === undefined) throw new Error(JSON.stringify(reply));
    return (reply.ok as Committed).result;
  });

test('[R2] a thread with entries that are not on disk yet stays in mind, however many others come', () => {
  const { folder, db, batches, sample } = open();
  const all = Array.from({ length: THREADS }, (_, thread) => sample.create(thread, ['alice']));
  committed(batches.run(all));
  const first = (body: string) => sample.post('alice', 0, body);
  const others = Array.from({ length: 20 }, (_, i) => sample.create(THREADS + i, ['alice']));
  const replies = committed(batches.run([first('one'), ...others, first('two'), first('three')]));
  const seqs = [0, -2, -1].map((at) => replies.at(at)?.['seq']);
  expect(seqs).toEqual([1, 2, 3]);
  expect(committed(batches.run([first('four')]))[0]).toMatchObject({ seq: 4 });
  db.close();
  expect(checkRecord(folder)).toMatchObject({ ok: true });
});

test('[R2] [R5] a side channel whose main thread came to mind in its place is written to and read as it was', () => {
  const { folder, db, batches, sample } = open();
  const create = (thread: number) => sample.create(thread, ['alice']);
  const mains = [create(0), create(1)];
  const [first, second] = [SIDES, SIDES + 1];
  // Between the two stands one whose place the first of them takes.
  const sides = [sample.openSide('alice', 0, 0), create(THREADS), sample.openSide('alice', 1, 1)];
  committed(batches.run([...mains, ...sides]));
  // As many as fit beside them, and then two, which drive out both main threads: they have been there longest.
  const others = Array.from({ length: THREADS - 5 }, (_, i) => create(THREADS + 1 + i));
  committed(batches.run(others));
  committed(batches.run([create(2), create(3)]));
  const [posted] = committed(batches.run([sample.post('alice', first, 'text')]));
  expect(posted).toMatchObject({ seq: 1 });
  committed(batches.run([sample.ack('alice', second, 0)]));
  const cursor = `SELECT t.thread_id FROM cursors c JOIN threads t ON t.id = c.thread`;
  expect(db.prepare(cursor).all()).toEqual([{ thread_id: sampleSide(1) }]);
  db.close();
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
});

const WITHOUT_GUARD = 'DROP TRIGGER entries_never_change';

test('[R11] nothing is decided on an entry that is not as it was written', () => {
  const { folder, batches, sample } = open();
  const [, posted] = committed(
    batches.run([sample.create(0, ['alice']), sample.post('alice', 0, 'original')]),
  );
  tamper(
    folder,
    `${WITHOUT_GUARD}; UPDATE entries SET json = replace(json, 'original', 'changed') WHERE seq = 1`,
  );
  const replyTo = String(posted?.['message_id']);
  const replies = batches.run([
    sample.post('alice', 0, 'a reply', { replyTo }),
    sample.ack('alice', 0, 1),
    sample.post('alice', 0, 'no reply'),
  ]);
  const refused = {
    error: { code: 'INTERNAL', message: expect.stringContaining('is damaged at seq 1') as string },
  };
  expect(replies).toMatchObject([refused, refused, { ok: {} }]);
});

test('[R5] [R11] a cursor that is not as it was written moves no further', () => {
  const { folder, db, batches, sample } = open();
  const post = () => sample.post('alice', 0, 'text');
  committed(batches.run([sample.create(0, ['alice']), post(), post(), post(), sample.ack('alice', 0, 3)]));
  tamper(folder, 'UPDATE cursors SET last_read_seq = 1');
  const message = expect.stringContaining('the record is damaged: the cursor of alice') as string;
  expect(batches.run([sample.ack('alice', 0, 2)])).toMatchObject([
    { error: { code: 'INTERNAL', message, details: { thread_id: sampleThread(0) } } },
  ]);
  expect(number(db, 'SELECT last_read_seq FROM cursors')).toBe(1);
  // Who does not move it is not asked for it.
  committed(batches.run([post()]));
});

test('[R5] [R11] who writes where the number of one’s entries is not as it was written is refused, and leaves no trace', () => {
  const { folder, db, batches, sample } = open();
  const side = SIDES;
  const both = (thread: number) => [sample.post('alice', thread, 'text'), sample.post('bob', thread, 'text')];
  committed(
    batches.run([
      sample.create(0, ['alice', 'bob']),
      sample.create(1, ['alice']),
      sample.openSide('alice', 0, 0, undefined, ['bob']),
      ...both(0),
      ...both(side),
    ]),
  );
  const entries = () => number(db, 'SELECT count(*) FROM entries');
  const before = entries();
  const message = expect.stringContaining('the record is damaged: the number of alice') as string;
  const refused = { error: { code: 'INTERNAL', message } };
  const change = (thread: number, by: number): void =>
    tamper(
      folder,
      `UPDATE entries_by_sender SET nth = nth + ${by} WHERE sender = 'alice' AND thread = ${thread}`,
    );
  // Closing writes to two threads: it is refused whichever of them is damaged, and writes to neither.
  for (const [thread, place] of [
    [1, 0],
    [3, side],
  ] as const) {
    change(thread, 1);
    const replies = new Batches(db).run([
      sample.closeSide('alice', 0, 0),
      sample.post('alice', place, 'text'),
      sample.post('bob', place, 'of another'),
      sample.post('alice', 1, 'elsewhere'),
    ]);
    expect(replies).toMatchObject([refused, refused, { ok: {} }, { ok: {} }]);
    change(thread, -1);
  }
  expect(entries()).toBe(before + 4);
  committed(new Batches(db).run([sample.closeSide('alice', 0, 0)]));
  db.close();
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
});

test('[R1] what a crash left in the write-ahead log alone is in the database before anybody is told of it', () => {
  const { folder, batches, sample } = open();
  committed(batches.run([sample.create(0, ['alice']), sample.post('alice', 0, 'text')]));
  const crashed = sampleFolder();
  const alone = sampleFolder();
  onTestFinished(() => [crashed, alone].forEach(removeFolder));
  for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`]) cpSync(join(folder, name), join(crashed, name));
  const entriesWithoutWal = (from: string): number => {
    const path = join(alone, DATABASE_FILE);
    copyFileSync(join(from, DATABASE_FILE), path);
    const db = new (sqliteModule().DatabaseSync)(path, { readOnly: true });
    try {
      const isMade = number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'entries'") === 1;
      return isMade ? number(db, 'SELECT count(*) FROM entries') : 0;
    } finally {
      db.close();
    }
  };
  expect(entriesWithoutWal(crashed)).toBe(0);
  const synced: number[] = [];
  const { fsyncSync } = fs;
  const sync = (how: typeof fsyncSync): void => {
    fs.fsyncSync = how;
    syncBuiltinESMExports();
  };
  onTestFinished(() => sync(fsyncSync));
  sync((fd) => {
    synced.push(fstatSync(fd).ino);
    fsyncSync(fd);
  });
  const wal = statSync(join(crashed, `${DATABASE_FILE}-wal`)).ino;
  const revived = openSample(crashed);
  expect(synced).toContain(wal);
  expect(entriesWithoutWal(crashed)).toBe(2);
  revived.close();
});

test('[R3] [R11] a key is kept under its sender and a short tag, and one that is not as it was written answers nothing', () => {
  const { folder, db, batches, sample } = open();
  const keyed = sample.post('alice', 0, 'text', { key: 'k' });
  committed(batches.run([sample.create(0, ['alice']), keyed]));
  const { name } = db.prepare<{ name: string }>('SELECT name FROM idempotency').get() ?? {};
  expect(name).toMatch(/^alice k [\w-]{22}$/);
  expect(batches.run([keyed])).toMatchObject([{ ok: { replayed: true, result: { seq: 1 } } }]);
  tamper(folder, "UPDATE idempotency SET result = result || ' '");
  const message = expect.stringContaining('the idempotency key alice k') as string;
  expect(batches.run([keyed])).toMatchObject([{ error: { code: 'INTERNAL', message } }]);
  expect(number(db, 'SELECT count(*) FROM entries')).toBe(2);
});

test('[R3] a key that was only looked at is free for the write that comes with it', () => {
  const { batches, sample } = open();
  const keyed = sample.post('alice', 0, 'text', { key: 'k' });
  const { idempotency } = keyed;
  if (idempotency === undefined) throw new Error('no key');
  const peeking = { ...keyed, idempotency: { ...idempotency, peek: true as const } };
  committed(batches.run([sample.create(0, ['alice'])]));
  const written = (seq: number, replayed: boolean) => ({ ok: { replayed, result: { seq } } });
  expect(batches.run([peeking, keyed, keyed])).toMatchObject([
    written(1, false),
    written(2, false),
    written(2, true),
  ]);
});

test('a thread that is looked at beside another may be none', () => {
  const { batches, sample } = open();
  committed(batches.run([sample.create(0, ['alice']), sample.openSide('alice', 0, 0)]));
  expect(batches.run([sample.closeSide('alice', 9, 0)])).toMatchObject([{ error: { code: 'CONFLICT' } }]);
});

test('a write tells how far its thread and its workspace have come, one that writes no entry does not', () => {
  const { batches, sample } = open();
  const [, posted, beat] = batches.run([
    sample.create(0, ['alice']),
    sample.post('alice', 0, 'text'),
    sample.heartbeat('alice'),
  ]);
  const reached = { thread_id: sampleThread(0), workspace_id: 'w', last_seq: 1, after: 1, pos: 2 };
  expect(posted?.ok).toMatchObject({ replayed: false, reached: [reached] });
  expect(beat?.ok).toMatchObject({ replayed: false });
  expect(beat?.ok).not.toHaveProperty('reached');
});

test('who takes part in a thread is listed, and who has left is not', () => {
  const { db, batches, sample } = open();
  const listed = () =>
    db.prepare<{ agent_id: string }>('SELECT agent_id FROM participants ORDER BY agent_id').all();
  committed(batches.run([sample.create(0, ['alice', 'bob'])]));
  expect(listed().map(({ agent_id }) => agent_id)).toEqual(['alice', 'bob']);
  committed(batches.run([sample.control('user', 0, { invite: { participant_id: 'carol' } })]));
  committed(batches.run([sample.control('user', 0, { remove: { participant_id: 'bob' } })]));
  expect(listed().map(({ agent_id }) => agent_id)).toEqual(['alice', 'carol']);
});

test('[R12] a thread that is not there is foreign to a workspace without any, once others have some', () => {
  const { batches, sample } = open();
  const stranger = () => batches.run([sample.post('alice', 9, 'x', { workspace: 'v' })])[0]?.error?.code;
  expect(stranger()).toBe('NOT_FOUND');
  committed(batches.run([sample.create(0, ['alice'])]));
  expect(stranger()).toBe('OUT_OF_SCOPE_WORKSPACE');
  expect(batches.run([sample.ack('alice', 9, 1)])).toMatchObject([{ error: { code: 'NOT_FOUND' } }]);
  committed(batches.run([sample.create(1, ['alice'], undefined, 'v')]));
  expect(stranger()).toBe('NOT_FOUND');
});
