import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { callerOf, creating, posting } from '@parley/core/store-contract';
import { afterAll, expect, test } from 'vitest';

import { openWriter } from './open-database.ts';
import { DATABASE_FILE, openSqliteStore } from './open-store.ts';
import { SearchIndex } from './search-index.ts';
import { Tallies } from './tallies.ts';
import { Upkeep } from './upkeep.ts';
import { Writer } from './writer.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-upkeep-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const alice = callerOf('alice', 'w1');

/** Some fifty words, a few of them common and most of them rare. */
function text(i: number): string {
  const words = Array.from({ length: 50 }, (_, n) => `w${((i * 50 + n) * 7_919) % 3_001}`);
  return words.join(' ');
}

test('at 1,000 posts a second the index is never 2 s behind', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(root, 'data-'));
  const faults: string[] = [];
  const store = await openSqliteStore({ folder, onFault: (message) => faults.push(message) });
  await store.transact(creating('t1', alice, [], Date.now()));
  const started = performance.now();
  const lags: number[] = [];
  const posts: Promise<unknown>[] = [];
  let sent = 0;
  for (let next = 500; performance.now() - started < 4_000; await sleep(5)) {
    const now = Date.now();
    for (const due = performance.now() - started; sent < due; sent++) {
      const key = `k${sent}`;
      posts.push(store.transact(posting('t1', text(sent), alice, { key, now })));
    }
    if (performance.now() - started < next) continue;
    next += 500;
    const { since } = await store.searchLag(undefined);
    lags.push(since === undefined ? 0 : Date.now() - Date.parse(since));
  }
  await Promise.all(posts);
  expect(sent).toBeGreaterThan(3_500);
  expect(lags.length).toBeGreaterThan(4);
  expect(Math.max(...lags)).toBeLessThan(2_000);
  await expect.poll(() => store.searchLag(undefined), { timeout: 5_000 }).toEqual({ entries: 0 });
  await store.close();
  expect(faults).toEqual([]);
});

test('what was not handed over is read from the disk, wherever the gap is', () => {
  const db = openWriter(join(mkdtempSync(join(root, 'data-')), DATABASE_FILE), () => {});
  const tallies = new Tallies(db);
  const index = new SearchIndex(db, tallies);
  const isOffered = (pos: number): boolean => pos % 20 > 5;
  const writer = new Writer(db, tallies, (pos, ...entry) =>
    isOffered(pos) ? index.offer(pos, ...entry) : undefined,
  );
  db.exec('BEGIN IMMEDIATE');
  writer.attempt(creating('t1', alice), 0);
  for (let i = 2; i <= 100; i++) writer.attempt(posting('t1', `common number${i}`, alice), 0);
  writer.flush();
  for (let i = 0; i < 3; i++) {
    let taken = 0;
    index.take(() => ++taken < 33);
  }
  index.take(() => true);
  db.exec('COMMIT');
  const found = db
    .prepare("SELECT rowid AS id FROM search WHERE search MATCH 'common' ORDER BY rowid")
    .all() as { id: number }[];
  const first = found[0]?.id ?? 0;
  expect(found.map(({ id }) => id - first)).toEqual(Array.from({ length: 99 }, (_, i) => i));
  db.close();
});

test('a slice is short, whatever there is to be done', () => {
  const db = openWriter(join(mkdtempSync(join(root, 'data-')), DATABASE_FILE), () => {});
  const tallies = new Tallies(db);
  const writer = new Writer(db, tallies, () => {});
  db.exec('BEGIN IMMEDIATE');
  writer.attempt(creating('t1', alice), 0);
  for (let i = 0; i < 6_000; i++) writer.attempt(posting('t1', text(i), alice, { key: `k${i}` }), 0);
  writer.flush();
  db.exec('COMMIT');
  const upkeep = new Upkeep(db, tallies, () => {});
  upkeep.forgetKeys(1e15);
  const took: number[] = [];
  while (upkeep.isBehind(writer.position)) {
    db.exec('BEGIN IMMEDIATE');
    // Its own time: the machine may take the thread off its core for a while.
    const before = process.cpuUsage();
    upkeep.slice();
    const { user, system } = process.cpuUsage(before);
    took.push((user + system) / 1_000);
    db.exec('COMMIT');
    upkeep.keep();
  }
  expect(took.length).toBeGreaterThan(20);
  const sorted = took.toSorted((a, b) => a - b);
  expect(sorted[Math.floor(sorted.length * 0.95)]).toBeLessThan(5);
  const count = (sql: string): unknown => Object.values(db.prepare(sql).get() ?? {})[0];
  expect(count('SELECT count(*) FROM idempotency')).toBe(0);
  expect(count('SELECT count(DISTINCT segid) FROM search_idx')).toBeLessThan(30);
  expect(count("SELECT count(*) FROM search WHERE search MATCH 'w7'")).toBeGreaterThan(50);
  db.close();
});
