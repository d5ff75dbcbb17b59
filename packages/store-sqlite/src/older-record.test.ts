import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { afterAll, expect, test } from 'vitest';

import { Batches } from './batches.ts';
import { checkRecord } from './check-record.ts';
import { exportRecord } from './export-record.ts';
import type { OpeningNews } from './news.ts';
import { openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { Reader } from './reader.ts';
import { sumOfRecord } from '@parley/store-rows';
import { tamper } from './sample-damage.ts';
import { removeFolder, sampleFolder } from './sample-record.ts';
import { MIGRATIONS } from './sql/migrations.ts';

/** Written by the hub of the fourth form, whose one count ran over three workspaces: so far each had come with each entry. */
const ONE_COUNT = {
  north: [
    1, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25, 26, 28, 29, 31, 33, 34, 35, 37, 38, 39,
    41, 42, 43, 45, 46, 47, 49, 50, 51, 53, 54, 55, 57,
  ],
  quiet: [3, 30, 58],
  south: [2, 7, 11, 15, 19, 23, 27, 32, 36, 40, 44, 48, 52, 56],
};
const LAST = 58;
const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

function olderFolder(): string {
  const folder = sampleFolder();
  folders.push(folder);
  const packed = readFileSync(new URL('sample-older-record.db.gz', import.meta.url));
  writeFileSync(join(folder, DATABASE_FILE), gunzipSync(packed));
  return folder;
}

function open(folder: string) {
  const news: OpeningNews[] = [];
  const db = openWriter(join(folder, DATABASE_FILE), (one) => news.push(one));
  return { db, news };
}

const everything = { participant: undefined, limit: 1_000, max_bytes: 1e9 };
const exported = (folder: string) => [...exportRecord(folder)].map((line) => JSON.parse(line) as object);

test('[R4] [R12] a record with one count over all workspaces is counted anew, each from 1 on, and nothing is found wrong', () => {
  const folder = olderFolder();
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [], schema_version: 4 });
  const before = exported(folder);
  const { db, news } = open(folder);
  expect(news).toEqual([]);
  const reader = new Reader(db);
  const heads = Object.entries(ONE_COUNT).map(([workspace_id, { length: pos }]) => ({ workspace_id, pos }));
  expect(reader.heads({ past: '', limit: 10 })).toEqual(heads);
  for (const { workspace_id, pos } of heads) {
    const { rows } = reader.workspace({ ...everything, workspace_id, after: 0 });
    expect(rows.map((row) => row.pos)).toEqual(Array.from({ length: pos }, (_, i) => i + 1));
    expect(rows.every(({ entry }) => entry.body.startsWith(workspace_id))).toBe(true);
  }
  const batches = new Batches(db);
  while (batches.idle() !== undefined);
  batches.close();
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [], schema_version: MIGRATIONS.length });
  const after = exported(folder).filter((line) => (line as { type: string }).type === 'entry');
  expect(after).toEqual(before.filter((line) => (line as { type: string }).type === 'entry'));
  const again = open(folder);
  expect(again.news).toEqual([]);
  again.db.close();
});

test('[R6] a cursor of the one count stands where it stood, one beyond it is taken for what it says', () => {
  const { db } = open(olderFolder());
  const reader = new Reader(db);
  for (const [workspace, positions] of Object.entries(ONE_COUNT))
    for (let cursor = 0; cursor <= LAST; cursor++)
      expect(reader.placeOf(workspace, cursor)).toBe(positions.filter((pos) => pos <= cursor).length);
  expect(reader.placeOf('quiet', LAST + 1)).toBe(LAST + 1);
  expect(reader.placeOf('new', 7)).toBe(0);
  db.close();
});

test('[R6] who followed all workspaces by one place goes on in each of them, and in a new one from its first entry', () => {
  const folder = olderFolder();
  tamper(folder, (db) => {
    const row = { kind: 'follower', workspace_id: '(hub)', key: 'notify', mark: '', owner: 'notify' };
    const json = JSON.stringify({ name: 'notify', pos: 15 });
    const put = db.prepare("UPDATE records SET json = ?, sum = ? WHERE kind = 'follower' AND key = 'notify'");
    put.run(json, sumOfRecord({ ...row, json }));
  });
  const { db } = open(folder);
  const kept = new Reader(db).records({ kind: 'follower', workspace_id: '(hub)', limit: 100 });
  const places = (name: string) =>
    Object.fromEntries(kept.filter((one) => one.name === name).map((one) => [one.workspace_id, one.pos]));
  expect(places('wake')).toEqual({ '(hub)': 0, north: 41, quiet: 3, south: 14 });
  expect(places('notify')).toEqual({ '(hub)': 0, north: 10, quiet: 1, south: 4 });
  expect(kept).toHaveLength(8);
  db.close();
});
