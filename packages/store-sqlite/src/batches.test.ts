import { statSync } from 'node:fs';
import { join } from 'node:path';

import type { Committed } from '@parley/core';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

import { Batches } from './batches.ts';
import { checkRecord } from './check-record.ts';
import { number } from './number.ts';
import { openReader } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { SampleCommands } from './sample-commands.ts';
import { tamper } from './sample-damage.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import { type DatabaseSync, SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR } from './sqlite.ts';
import { ADVANCE_INDEX, type Notice, REMAKE_INDEX, type Reply } from './thread-protocol.ts';

/** What SQLite says of a database that is not as it should be. */
const SQLITE_CORRUPT = 11;

/** Which statements fail from now on, by how they begin, and with which code of SQLite. */
type Faults = Map<string, number>;

/** The same connection on a disk that fails when a test says so; `said` has all that it was told to do. */
function onFailingDisk(db: DatabaseSync, faults: Faults, said: string[]): DatabaseSync {
  const meet = (sql: string): void => {
    said.push(sql);
    for (const [start, errcode] of faults)
      if (sql.startsWith(start)) throw Object.assign(new Error(`${start} failed`), { errcode });
  };
  const exec = db.exec.bind(db);
  const prepare = db.prepare.bind(db) as (sql: string) => ReturnType<DatabaseSync['prepare']>;
  Object.defineProperty(db, 'exec', {
    value(sql: string) {
      meet(sql);
      exec(sql);
    },
  });
  Object.defineProperty(db, 'prepare', {
    value(sql: string) {
      const statement = prepare(sql);
      const own = { get: statement.get.bind(statement), run: statement.run.bind(statement) };
      for (const how of ['get', 'run'] as const) {
        const value = (...parameters: unknown[]): unknown => {
          meet(sql);
          return own[how](...parameters);
        };
        Object.defineProperty(statement, how, { value });
      }
      return statement;
    },
  });
  return db;
}

let folder: string;
let db: DatabaseSync;
let batches: Batches;
let sample: SampleCommands;
let faults: Faults;
let said: string[];
let told: Notice[];

beforeEach(() => {
  folder = sampleFolder();
  [faults, said, told] = [new Map(), [], []];
  db = onFailingDisk(openSample(folder), faults, said);
  batches = new Batches(db, (notice) => told.push(notice));
  sample = new SampleCommands();
  onTestFinished(() => {
    faults.clear();
    if (db.isOpen) db.close();
    removeFolder(folder);
  });
  batches.run([sample.create(0, ['alice'])]);
  // What waits from here on waits since then, however long this took.
  settle();
});

const post = (body = 'text') => sample.post('alice', 0, body);
const seqs = (replies: readonly Reply[]): unknown[] =>
  replies.map(({ ok }) => (ok as Committed | undefined)?.result['seq']);
const count = (sql = 'SELECT count(*) FROM entries'): number => number(db, sql);
const passing = { error: { code: 'UNAVAILABLE', details: { retry_after_ms: 1_000 } }, severity: 'passing' };
const fatal = { error: { code: 'UNAVAILABLE' }, severity: 'fatal' };
const settle = (): void => {
  while (batches.idle() !== undefined);
};

test('[R1] the commands of a batch share one commit, and those beyond its time wait for the next', () => {
  said.length = 0;
  expect(seqs(batches.run([post(), post(), post()]))).toEqual([1, 2, 3]);
  expect(said.filter((sql) => /^(BEGIN|COMMIT|PRAGMA wal)/.test(sql))).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
  expect(seqs(batches.run([post(), post()], 0))).toEqual([4]);
  expect(seqs(batches.run([post(), post()], 60_000))).toEqual([5, 6]);
});

test('[R8] a fault that passes refuses the whole batch and leaves nothing; the next one goes on', () => {
  for (const statement of ['BEGIN', 'COMMIT']) {
    const before = count();
    faults.set(statement, SQLITE_FULL);
    expect(batches.run([post(), post()])).toMatchObject([passing, passing]);
    faults.clear();
    expect(count()).toBe(before);
    expect(told.splice(0)).toEqual([]);
    said.length = 0;
    batches.fold();
    expect(said).toEqual([]);
    expect(seqs(batches.run([post()]))).toEqual([before]);
    expect(told.splice(0)).toEqual([{ recovered: true }]);
    batches.run([sample.heartbeat('alice')]);
    expect(told).toEqual([]);
  }
  settle();
  batches.close();
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
});

test('[R8] a fault in the midst of a command refuses those before it in its batch, and it comes again', () => {
  faults.set('INSERT INTO entries', SQLITE_FULL);
  expect(batches.run([sample.heartbeat('alice'), post()])).toMatchObject([passing]);
  expect(batches.run([post(), post()])).toMatchObject([passing, passing]);
  faults.clear();
  expect(count("SELECT count(*) FROM records WHERE kind = 'session'")).toBe(0);
});

test('[R8] [R12] of a workspace whose first thread was not written nothing is remembered', () => {
  const stranger = () => sample.post('alice', 9, 'text', { workspace: 'v' });
  faults.set('COMMIT', SQLITE_FULL);
  batches.run([sample.create(1, ['alice'], undefined, 'v'), stranger()]);
  faults.clear();
  expect(batches.run([stranger()])).toMatchObject([{ error: { code: 'OUT_OF_SCOPE_WORKSPACE' } }]);
});

test('a run of the log goes on over a restart, until another workspace writes', () => {
  const runs = () => db.prepare('SELECT workspace_id, pos, place FROM runs ORDER BY pos').all();
  batches = new Batches(db);
  batches.run([post(), sample.create(1, ['alice'], undefined, 'v'), post()]);
  expect(runs()).toEqual([
    { workspace_id: 'w', pos: 1, place: 1 },
    { workspace_id: 'v', pos: 3, place: 1 },
    { workspace_id: 'w', pos: 4, place: 3 },
  ]);
});

test('[R11] entries that are not as they were written are told of, and not indexed', () => {
  batches.run([post('common one'), post('common two')]);
  tamper(
    folder,
    "DROP TRIGGER entries_never_change; UPDATE entries SET json = replace(json, 'one', 'eno') WHERE pos = 2",
  );
  batches = new Batches(db, (notice) => told.push(notice));
  settle();
  expect(told).toEqual([{ fault: 'damaged entries at positions 2' }]);
  expect(count("SELECT count(*) FROM search WHERE search MATCH 'common'")).toBe(1);
});

test('[R8] who had no turn before a fault is not refused by it', () => {
  faults.set('COMMIT', SQLITE_FULL);
  expect(batches.run([post(), post(), post()], 0)).toHaveLength(1);
});

test('[R8] after a fault of which nobody knows what it left, nothing is written until a restart', () => {
  faults.set('COMMIT', SQLITE_IOERR);
  expect(batches.run([post()])).toMatchObject([{ ...fatal, fault: 'COMMIT failed' }]);
  faults.clear();
  said.length = 0;
  expect(batches.run([post(), post()])).toMatchObject([
    { ...fatal, fault: 'COMMIT failed' },
    { ...fatal, fault: 'COMMIT failed' },
  ]);
  expect(batches.idle()).toBeUndefined();
  batches.fold();
  batches.close();
  expect(said).toEqual([]);
  expect(db.isOpen).toBe(false);
  db = openSample(folder);
  expect(count()).toBe(1);
});

test('[R8] where not even a rollback works, a fault that would pass ends all writing', () => {
  faults.set('COMMIT', SQLITE_FULL).set('ROLLBACK', SQLITE_IOERR);
  expect(batches.run([post()])).toMatchObject([{ ...fatal, fault: 'ROLLBACK failed' }]);
  faults.clear();
  expect(batches.run([post()])).toMatchObject([{ ...fatal, fault: 'ROLLBACK failed' }]);
});

test('[R8] nor where it fails while nobody writes, whoever holds the database', () => {
  batches.run([post()]);
  faults.set('COMMIT', SQLITE_BUSY).set('ROLLBACK', SQLITE_IOERR);
  expect(batches.idle()).toBeUndefined();
  expect(told).toEqual([{ fault: 'ROLLBACK failed', severity: 'fatal' }]);
  faults.clear();
  said.length = 0;
  batches.fold();
  expect(said).toEqual([]);
});

test('[R8] whether there is room again is seen by a write, also where nothing waits', () => {
  faults.set('COMMIT', SQLITE_FULL);
  batches.run([sample.heartbeat('alice')]);
  faults.clear();
  faults.set('INSERT OR REPLACE INTO followers', SQLITE_FULL);
  expect(batches.idle()).toBe(1_000);
  expect(told).toEqual([]);
  faults.clear();
  settle();
  expect(told).toEqual([{ recovered: true }]);
});

test('what can wait is done while nobody writes, a little at a time, and then nothing is', () => {
  const texts = Array.from({ length: 2_000 }, (_, i) => post(`common word${i} `.repeat(20)));
  batches.run(texts);
  said.length = 0;
  expect(batches.idle()).toBe(1);
  expect(said.filter((sql) => sql.startsWith('PRAGMA wal'))).toEqual([]);
  settle();
  expect(count("SELECT count(*) FROM search WHERE search MATCH 'common'")).toBe(2_000);
  said.length = 0;
  expect(batches.idle()).toBeUndefined();
  expect(said).toEqual([]);
  expect(count('PRAGMA busy_timeout')).toBe(5_000);
});

test('a lock that another holds is no trouble to what can wait', () => {
  batches.run([post()]);
  faults.set('BEGIN', SQLITE_BUSY);
  expect(batches.idle()).toBe(1_000);
  expect(count('PRAGMA busy_timeout')).toBe(5_000);
  faults.clear();
  settle();
  expect(told).toEqual([]);
});

test('[R8] a full disk is told once while nobody writes, and again when there is room', () => {
  batches.run([post()]);
  faults.set('COMMIT', SQLITE_FULL);
  for (let i = 0; i < 3; i++) expect(batches.idle()).toBe(1_000);
  expect(told.splice(0)).toEqual([{ fault: 'COMMIT failed', severity: 'passing' }]);
  faults.clear();
  settle();
  expect(told).toEqual([{ recovered: true }]);
});

test('[R8] a fault that does not pass is told, whoever meets it, and nothing is tried again', () => {
  batches.run([post()]);
  faults.set('COMMIT', SQLITE_FULL);
  batches.idle();
  faults.set('COMMIT', SQLITE_IOERR);
  expect(batches.idle()).toBeUndefined();
  expect(told).toEqual([
    { fault: 'COMMIT failed', severity: 'passing' },
    { fault: 'COMMIT failed', severity: 'fatal' },
  ]);
  faults.clear();
  expect(batches.run([post()])).toMatchObject([fatal]);
});

test('[R8] where the write-ahead log cannot be folded nobody writes until it can', () => {
  settle();
  for (const tryAgain of [() => batches.run([post()]), () => batches.idle()]) {
    faults.set('PRAGMA wal_checkpoint(NOOP)', SQLITE_FULL).set('PRAGMA wal_checkpoint(PASSIVE)', SQLITE_FULL);
    while (told.length === 0) batches.fold();
    expect(told.splice(0)).toEqual([{ fault: 'PRAGMA wal_checkpoint(NOOP) failed', severity: 'passing' }]);
    batches.fold();
    expect(batches.run([post()])).toMatchObject([passing]);
    expect(batches.idle()).toBe(1_000);
    expect(told).toEqual([]);
    faults.clear();
    tryAgain();
    expect(told.splice(0)).toEqual([{ recovered: true }]);
    settle();
  }
});

test('damage of the index costs nobody a write, and the index is made anew', () => {
  batches.run([post('common one')]);
  settle();
  for (const carry of [() => batches.run([post('common two'), ADVANCE_INDEX]), () => batches.idle()]) {
    batches.run([post('common more')]);
    tamper(folder, "UPDATE search_data SET block = x'00' WHERE id = 10");
    const answer = carry();
    if (Array.isArray(answer)) expect(answer).toMatchObject([{ ok: {} }, { ok: null }]);
    else expect(answer).toBe(1_000);
    expect(told.splice(0)).toEqual([
      { fault: expect.stringContaining('the index of words is damaged and made anew') as string },
    ]);
    settle();
    expect(count("SELECT count(*) FROM search WHERE search MATCH 'common'")).toBe(count() - 1);
    expect(told).toEqual([]);
  }
});

test('[R8] an index that cannot be made anew either ends all writing', () => {
  faults.set('INSERT OR REPLACE INTO followers', SQLITE_CORRUPT);
  expect(batches.run([post(), ADVANCE_INDEX])).toMatchObject([fatal, fatal]);
  expect(told).toHaveLength(1);
});

test('[R8] where damage of the index cannot be rolled back nothing is written any more', () => {
  batches.run([post()]);
  faults.set('INSERT OR REPLACE INTO followers', SQLITE_CORRUPT).set('ROLLBACK', SQLITE_IOERR);
  expect(batches.idle()).toBeUndefined();
  expect(told).toMatchObject([
    { fault: expect.stringContaining('the index of words is damaged') as string },
    { severity: 'fatal' },
  ]);
  expect(batches.run([post()])).toMatchObject([fatal]);
});

test('a single message is indexed when its turn comes, and not while its writer waits', () => {
  batches.run([post('alone')]);
  const found = () => count("SELECT count(*) FROM search WHERE search MATCH 'alone'");
  expect(found()).toBe(0);
  settle();
  expect(found()).toBe(1);
});

test('a write-ahead log that somebody keeps from being folded is told of', () => {
  db.close();
  db = openSample(folder);
  const prepare = db.prepare.bind(db);
  const isLong = { get: () => ({ log: 32_000, checkpointed: 0 }) };
  const value = (sql: string) => (sql.startsWith('PRAGMA wal_checkpoint(') ? isLong : prepare(sql));
  Object.defineProperty(db, 'prepare', { value });
  batches = new Batches(db, (notice) => told.push(notice));
  batches.fold();
  expect(told).toMatchObject([{ fault: expect.stringContaining('has grown to 32000 pages') as string }]);
});

test('[R8] a fault is of the index only where the index was carried', () => {
  const other = (): void => {
    faults.clear();
    faults.set('INSERT INTO entries', SQLITE_CORRUPT);
    expect(batches.run([post()])).toMatchObject([fatal]);
    expect(told).toEqual([]);
    faults.clear();
    batches = new Batches(db, (notice) => told.push(notice));
  };
  batches = new Batches(db, (notice) => told.push(notice));
  other();
  batches.run([post(), ADVANCE_INDEX]);
  other();
  faults.set('COMMIT', SQLITE_FULL);
  batches.run([post(), ADVANCE_INDEX]);
  other();
});

test('the index is made anew for who asks for it', () => {
  batches.run([post('common one')]);
  settle();
  expect(batches.run([REMAKE_INDEX])).toEqual([{ ok: null }]);
  expect(batches.idle()).toBeUndefined();
  expect(count("SELECT count(*) FROM search WHERE search MATCH 'common'")).toBe(1);
});

test('keys from before a moment are forgotten while nobody writes', () => {
  batches.run([sample.post('alice', 0, 'text', { key: 'k' })]);
  settle();
  expect(count('SELECT count(*) FROM idempotency')).toBe(1);
  // Later than the post, whose key may be of this very millisecond.
  batches.forgetKeys(Date.now() + 1);
  settle();
  expect(count('SELECT count(*) FROM idempotency')).toBe(0);
});

test('[R1] a connection that does not sync every commit is not written to', () => {
  const checks = (): number => said.filter((sql) => sql === 'PRAGMA synchronous').length;
  expect(checks()).toBe(1);
  batches.run([post()]);
  expect(checks()).toBe(1);
  db.exec('PRAGMA synchronous = NORMAL');
  expect(new Batches(db).run([post()])).toMatchObject([fatal]);
});

test('at the end the write-ahead log is folded; where it cannot be, it is told and stays', () => {
  const reader = openReader(join(folder, DATABASE_FILE));
  onTestFinished(() => reader.close());
  batches.close();
  expect(db.isOpen).toBe(false);
  expect(statSync(join(folder, `${DATABASE_FILE}-wal`)).size).toBe(0);
  db = onFailingDisk(openSample(folder), faults, said);
  batches = new Batches(db, (notice) => told.push(notice));
  faults.set('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint', SQLITE_IOERR);
  batches.close();
  expect(told).toMatchObject([
    { fault: expect.stringContaining('stays for the next start: PRAGMA') as string },
  ]);
  expect(db.isOpen).toBe(false);
});
