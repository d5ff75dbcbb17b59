import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Store } from '@parley/core';
import { creating, posting, testStore } from '@parley/core/store-contract';
import { afterAll, describe, expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { DATABASE_FILE, openSqliteStore } from './open-store.ts';
import { sqliteModule } from './sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-store-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const faults: string[] = [];
const open = (folder: string): Promise<Store> =>
  openSqliteStore({ folder, idempotencyWindowMs: 1e15, onFault: (message) => faults.push(message) });
const freshFolder = (): string => mkdtempSync(join(root, 'data-'));

/** A second connection, as a careless tool or a bad disk would change the file. */
function tamper(folder: string, sql: string): void {
  const db = new (sqliteModule().DatabaseSync)(join(folder, DATABASE_FILE));
  db.exec(sql);
  db.close();
}

describe('the SQLite store', () => {
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
      },
    };
  });
});

describe('[R11] damage is reported and never served', () => {
  async function filled(): Promise<{ folder: string; store: Store }> {
    const folder = freshFolder();
    const store = await open(folder);
    await store.transact(creating('t1'));
    for (let i = 1; i <= 6; i++) await store.transact(posting('t1', `message ${i}`));
    return { folder, store };
  }
  const read = (store: Store, after: number, limit: number) =>
    store.page({ workspace_id: 'w1', thread_id: 't1', after, limit, max_bytes: 1e9 });
  const free = 'DROP TRIGGER entries_never_change; DROP TRIGGER entries_never_go;';

  test.each([
    [
      'a changed letter',
      `UPDATE entries SET json = replace(json, 'message 3', 'message X') WHERE seq = 3`,
      3,
    ],
    ['a changed hash', `UPDATE entries SET hash = 'A' || substr(hash, 2) WHERE seq = 3`, 3],
    [
      'two entries exchanged',
      `UPDATE entries SET json = (SELECT json FROM entries WHERE seq = 4) WHERE seq = 3`,
      3,
    ],
    ['a missing entry', `DELETE FROM entries WHERE seq = 3`, 3],
  ])('%s', async (_what, sql, seq) => {
    const { folder, store } = await filled();
    tamper(folder, free + sql);
    const expected = {
      code: 'INTERNAL',
      message: expect.stringContaining(`damaged at seq ${seq}`) as string,
      details: { thread_id: 't1', seq },
    };
    await expect(read(store, 0, 10)).rejects.toMatchObject(expected);
    await expect(read(store, 2, 1)).rejects.toMatchObject(expected);
    expect((await read(store, 0, 2)).entries.map(({ body }) => body)).toEqual(['message 1', 'message 2']);
    expect(faults.at(-1)).toContain(`damaged at seq ${seq}`);
    await store.close();
    const report = checkRecord(folder);
    expect(report).toMatchObject({ ok: false, chain: 'broken' });
    expect(report.problems.join()).toContain(`t1: the chain breaks at seq ${seq}`);
  });

  test('the log cannot be changed by plain SQL', async () => {
    const { folder, store } = await filled();
    expect(() => tamper(folder, `UPDATE entries SET json = '{}' WHERE seq = 1`)).toThrow('append-only');
    expect(() => tamper(folder, 'DELETE FROM entries')).toThrow('append-only');
    expect((await read(store, 0, 10)).entries).toHaveLength(6);
    await store.close();
  });

  test('a cut-off end of the log and a state that differs from it are found', async () => {
    const { folder, store } = await filled();
    await store.close();
    tamper(folder, `${free} DELETE FROM entries WHERE seq = 6`);
    expect(checkRecord(folder).problems.join()).toContain('the log ends at seq 5, the thread was at 6');
    const other = await filled();
    await other.store.close();
    tamper(other.folder, `UPDATE threads SET state = replace(state, '"active"', '"closed"')`);
    expect(checkRecord(other.folder)).toMatchObject({ ok: false, chain: 'ok', index: 'differs' });
  });

  test('a file of something else is not opened', async () => {
    const folder = freshFolder();
    tamper(folder, 'CREATE TABLE x (y)');
    await expect(open(folder)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'the database file is not a Parley log',
    });
    const newer = freshFolder();
    await (await open(newer)).close();
    tamper(newer, 'PRAGMA user_version = 99');
    await expect(open(newer)).rejects.toThrow('written by a newer Parley');
    const garbage = freshFolder();
    writeFileSync(
      join(garbage, DATABASE_FILE),
      'not a database at all, just a text that is long enough'.repeat(50),
    );
    await expect(open(garbage)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('[R11] the write-ahead log', () => {
  const HEADER = 32;
  const FRAME = 24 + 4_096;

  /** The files of a store that was never closed, as a crash leaves them, with some bytes of the WAL changed. */
  async function crashed(change: (wal: Buffer) => Buffer): Promise<{ folder: string; frames: number }> {
    const live = freshFolder();
    const store = await open(live);
    await store.transact(creating('t1'));
    for (let i = 1; i <= 8; i++) await store.transact(posting('t1', `message ${i}`));
    const folder = freshFolder();
    for (const suffix of ['', '-wal'])
      copyFileSync(join(live, DATABASE_FILE + suffix), join(folder, DATABASE_FILE + suffix));
    await store.close();
    const path = join(folder, `${DATABASE_FILE}-wal`);
    const wal = readFileSync(path);
    writeFileSync(path, change(wal));
    return { folder, frames: (wal.length - HEADER) / FRAME };
  }
  const flip =
    (at: number) =>
    (wal: Buffer): Buffer => {
      wal[at] = (wal[at] ?? 0) ^ 0x10;
      return wal;
    };
  async function messagesIn(folder: string): Promise<number[]> {
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

  test('whole, it is taken up again', async () => {
    const { folder } = await crashed((wal) => wal);
    expect(await messagesIn(folder)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test.each([2, 5, 9])(
    'a flipped bit in frame %i with transactions behind it is refused by its place',
    async (frame) => {
      const { folder, frames } = await crashed(flip(HEADER + (frame - 1) * FRAME + 24 + 100));
      expect(frames).toBeGreaterThan(12);
      await expect(open(folder)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining(`damaged at frame ${frame}`) as string,
      });
      expect(checkRecord(folder).problems.join()).toContain(`damaged at frame ${frame}`);
    },
  );

  test('cut anywhere in its end, it opens with what was whole before', async () => {
    for (const cut of [1, 24, 100, FRAME, FRAME + 1, 2 * FRAME, 3 * FRAME + 7]) {
      const { folder } = await crashed((wal) => wal.subarray(0, wal.length - cut));
      const seqs = await messagesIn(folder);
      expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => i + 1));
      expect(seqs.length).toBeGreaterThanOrEqual(5);
      expect(seqs.length).toBeLessThan(8);
      expect(checkRecord(folder)).toMatchObject({ ok: true });
    }
  });

  test('cut to nothing, or to its header, it opens with what the database holds', async () => {
    for (const length of [0, 10, HEADER]) {
      const { folder } = await crashed((wal) => wal.subarray(0, length));
      const store = await open(folder);
      await store.close();
    }
    const { folder } = await crashed((wal) => wal);
    truncateSync(join(folder, `${DATABASE_FILE}-wal`), 0);
    await (await open(folder)).close();
  });

  test('a flipped bit in the last transaction is a crash like any other: what was before it is there', async () => {
    const { folder } = await crashed((wal) => flip(wal.length - 200)(wal));
    const seqs = await messagesIn(folder);
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => i + 1));
    expect(seqs.length).toBeLessThan(8);
  });
});
