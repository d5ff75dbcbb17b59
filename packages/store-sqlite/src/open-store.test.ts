import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Store } from '@parley/core';
import { callerOf, creating, posting, testStore } from '@parley/core/store-contract';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { checkRecord } from './check-record.ts';
import { DATABASE_FILE, openSqliteStore } from './open-store.ts';
import { derivedRows, tamper, WIPE } from './sample-damage.ts';
import { openSample } from './sample-record.ts';

// Each opening starts two threads from TypeScript.
const PATIENCE_MS = 60_000;

const root = mkdtempSync(join(tmpdir(), 'parley-store-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const faults: string[] = [];
const open = (folder: string): Promise<Store> =>
  openSqliteStore({ folder, onFault: (message) => faults.push(message) });
const freshFolder = (): string => mkdtempSync(join(root, 'data-'));
const alice = callerOf('alice', 'w1');

describe('the SQLite store', { timeout: PATIENCE_MS }, () => {
  testStore(async () => {
    const folder = freshFolder();
    let store = await open(folder);
    return {
      store,
      async reopen() {
        await store.close();
        store = await open(folder);
        return store;
      },
      async close() {
        await store.close();
        expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
        const live = derivedRows(folder);
        tamper(folder, WIPE);
        openSample(folder).close();
        expect(derivedRows(folder)).toEqual(live);
      },
    };
  });
});

describe('[R11] damage is reported and never served', { timeout: PATIENCE_MS }, () => {
  const folder = freshFolder();
  let store: Store | undefined;
  beforeAll(async () => {
    store = await open(folder);
    for (const thread of ['letter', 'hash', 'exchanged', 'missing', 'sound']) {
      await store.transact(creating(thread, alice));
      for (let i = 1; i <= 6; i++) await store.transact(posting(thread, `message ${i}`, alice));
    }
  }, PATIENCE_MS);
  afterAll(() => store?.close(), PATIENCE_MS);

  const read = async (thread_id: string, after: number, limit: number): Promise<string[]> => {
    const page = await store?.page({ workspace_id: 'w1', thread_id, after, limit, max_bytes: 1e9 });
    return page?.entries.map(({ body }) => body) ?? [];
  };
  const third = (thread: string): string =>
    `seq = 3 AND thread = (SELECT id FROM threads WHERE thread_id = '${thread}')`;

  test('the log cannot be changed by plain SQL', async () => {
    expect(() => tamper(folder, `UPDATE entries SET json = '{}' WHERE seq = 1`)).toThrow('append-only');
    expect(() => tamper(folder, 'DELETE FROM entries')).toThrow('append-only');
    expect(await read('sound', 0, 10)).toHaveLength(6);
  });

  test.each([
    ['letter', `UPDATE entries SET json = replace(json, 'message 3', 'message X') WHERE ${third('letter')}`],
    ['hash', `UPDATE entries SET hash = 'A' || substr(hash, 2) WHERE ${third('hash')}`],
    [
      'exchanged',
      `UPDATE entries SET json = replace(json, '"seq":3', '"seq":4') WHERE ${third('exchanged')}`,
    ],
    ['missing', `DELETE FROM entries WHERE ${third('missing')}`],
  ])('%s: nothing at or across the damage is given out', async (thread, sql) => {
    tamper(folder, 'DROP TRIGGER IF EXISTS entries_never_change; DROP TRIGGER IF EXISTS entries_never_go');
    tamper(folder, sql);
    const named = { code: 'INTERNAL', details: { thread_id: thread, seq: 3 } };
    await expect(read(thread, 0, 10)).rejects.toMatchObject(named);
    await expect(read(thread, 2, 1)).rejects.toMatchObject(named);
    expect(faults.at(-1)).toMatch(`seq 3`);
    expect(await read(thread, 0, 2)).toEqual(['message 1', 'message 2']);
    expect(await read('sound', 0, 10)).toHaveLength(6);
    const report = checkRecord(folder);
    expect(report).toMatchObject({ ok: false, chain: 'broken' });
    expect(report.problems.filter((problem) => problem.includes(thread)).join()).toContain('seq 3');
  });

  test('a file of something else, or of a newer Parley, is not opened', async () => {
    const other = freshFolder();
    tamper(other, 'CREATE TABLE x (y)');
    await expect(open(other)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'the database file is not a Parley log',
    });
    const garbage = freshFolder();
    writeFileSync(
      join(garbage, DATABASE_FILE),
      'not a database at all, but a text that is long enough'.repeat(50),
    );
    await expect(open(garbage)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const newer = freshFolder();
    cpSync(folder, newer, { recursive: true });
    tamper(newer, 'PRAGMA user_version = 99');
    await expect(open(newer)).rejects.toThrow('written by a newer Parley');
  });
});

describe('[R11] the write-ahead log that a crash leaves', { timeout: PATIENCE_MS }, () => {
  const HEADER = 32;
  const FRAME = 24 + 4_096;
  const image = freshFolder();
  beforeAll(async () => {
    const live = freshFolder();
    const store = await open(live);
    await store.transact(creating('t1', alice));
    for (let i = 1; i <= 8; i++) await store.transact(posting('t1', `message ${i}`, alice));
    for (const suffix of ['', '-wal'])
      cpSync(join(live, DATABASE_FILE + suffix), join(image, DATABASE_FILE + suffix));
    await store.close();
  }, PATIENCE_MS);

  function crashed(change: (wal: Buffer) => Buffer): string {
    const folder = freshFolder();
    cpSync(image, folder, { recursive: true });
    const path = join(folder, `${DATABASE_FILE}-wal`);
    writeFileSync(path, change(readFileSync(path)));
    return folder;
  }

  /** Where the log ends; frames of before it was begun anew stand behind it, with other salts. */
  function endOf(wal: Buffer): number {
    const salts = wal.subarray(16, 24);
    let end = 32;
    while (wal.subarray(end + 8, end + 16).equals(salts)) end += FRAME;
    return end;
  }

  async function seqsIn(folder: string): Promise<number[]> {
    const store = await open(folder);
    const page = await store.page({
      workspace_id: 'w1',
      thread_id: 't1',
      after: 0,
      limit: 100,
      max_bytes: 1e9,
    });
    await store.close();
    return page.entries.map(({ seq }) => seq);
  }

  test('whole, it is taken up again; cut in its end, what was whole before it', async () => {
    expect(await seqsIn(crashed((wal) => wal))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const folder = crashed((wal) => wal.subarray(0, endOf(wal) - FRAME - 7));
    expect(await seqsIn(folder)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(checkRecord(folder)).toMatchObject({ ok: true });
  });

  test('a flipped bit with transactions behind it is refused by its frame', async () => {
    for (const frame of [2, 9]) {
      const folder = crashed((wal) => {
        wal[HEADER + (frame - 1) * FRAME + 124]! ^= 0x10;
        return wal;
      });
      const message = expect.stringContaining(`damaged at frame ${frame}`) as string;
      await expect(open(folder)).rejects.toMatchObject({ code: 'UNAVAILABLE', message });
      expect(checkRecord(folder).problems.join()).toContain(`damaged at frame ${frame}`);
    }
  });
});

describe('searches have a thread of their own', { timeout: PATIENCE_MS }, () => {
  const folder = freshFolder();
  let store: Store;
  beforeAll(async () => {
    store = await open(folder);
    await store.transact(creating('t1', alice));
    for (let i = 0; i < 300; i++) await store.transact(posting('t1', 'a '.repeat(500), alice));
    await vi.waitFor(async () => expect((await find('a')).lacks).not.toContain('changes'), PATIENCE_MS);
  }, PATIENCE_MS);
  afterAll(() => store.close(), PATIENCE_MS);

  const find = (text: string) =>
    store.search({ workspace_id: 'w1', participant: 'alice', thread_id: undefined, text, limit: 20 });

  test('a read never waits for them, and no more wait than can be answered soon', async () => {
    const searches = Array.from({ length: 200 }, () => find('a '.repeat(500)));
    let answered = 0;
    for (const search of searches)
      search.then(
        () => answered++,
        () => {},
      );
    await store.position('w');
    expect(answered).toBeLessThan(5);
    const outcomes = await Promise.allSettled(searches);
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(refused.length).toBeGreaterThan(100);
    expect(refused[0]).toMatchObject({ code: 'UNAVAILABLE', details: { retry_after_ms: 250 } });
    expect(outcomes.find(({ status }) => status === 'fulfilled')).toMatchObject({
      value: { hits: { length: 20 } },
    });
  });

  const spoilt: [string, string][] = [
    ['is gone', 'DELETE FROM search_data'],
    ['has no structure', "UPDATE search_data SET block = x'00' WHERE id = 10"],
    ['is all zeros', 'UPDATE search_data SET block = zeroblob(length(block))'],
    ['is noise', 'UPDATE search_data SET block = randomblob(length(block)) WHERE id > 10'],
    ['has no table of documents', 'DELETE FROM search_docsize'],
  ];
  test.each(spoilt)('an index that %s costs no write, and is made anew', async (_name, spoil) => {
    tamper(folder, spoil);
    for (let i = 0; i < 200; i++) await store.transact(posting('t1', `then ${i}`, alice));
    expect(store.health().writable).toBe(true);
    await vi.waitFor(
      async () => expect((await find('then 199')).hits.length).toBeGreaterThan(0),
      PATIENCE_MS,
    );
    await vi.waitFor(async () => expect((await find('a')).hits).toHaveLength(20), PATIENCE_MS);
  });

  const lost: [string, string, string][] = [
    ['has lost its text', 'DELETE FROM search_data WHERE id > 10', 'once'],
    ['FTS5 takes for empty', 'UPDATE search_data SET block = zeroblob(length(block))', 'twice'],
  ];
  test.each(lost)('an index that %s is no answer, and is made anew', async (_name, spoil, word) => {
    tamper(folder, spoil);
    await expect(find('a')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { reason: 'index_damaged' },
    });
    expect(store.health()).toMatchObject({ writable: true, rebuilt: ['index'] });
    await store.transact(posting('t1', `${word} more`, alice));
    await vi.waitFor(
      async () => expect(await find(word)).toMatchObject({ hits: [{}], lacks: [] }),
      PATIENCE_MS,
    );
  });
});
