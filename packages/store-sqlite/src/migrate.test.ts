import { join } from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import type { OpeningNews } from './news.ts';
import { openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { derivedRows } from './sample-damage.ts';
import { removeFolder, sampleFolder, writeSampleRecord } from './sample-record.ts';
import { MIGRATIONS } from './sql/migrations.ts';
import { type HeadColumns, type RecordColumns, sumOfHead, sumOfRecord } from '@parley/store-rows';
import { type DatabaseSync, sqliteModule } from './sqlite.ts';
import { WordSearch } from './word-search.ts';
import { Batches } from './batches.ts';

const TABLES = [
  'threads',
  'heads',
  'participants',
  'entries',
  'cursors',
  'records',
  'idempotency',
  'followers',
];
const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

/** The record of the first form that another holds in today's. */
function inFirstForm(source: string): string {
  const folder = sampleFolder();
  folders.push(folder);
  const db = new (sqliteModule().DatabaseSync)(join(folder, DATABASE_FILE));
  db.exec(`${MIGRATIONS[0] ?? ''}; PRAGMA user_version = 1; PRAGMA application_id = 1346458188`);
  db.prepare('ATTACH ? AS source').run(join(source, DATABASE_FILE));
  db.exec('PRAGMA foreign_keys = OFF; BEGIN');
  for (const table of TABLES) {
    const columns = db.prepare('SELECT name FROM pragma_table_info(?)').all(table) as { name: string }[];
    db.exec(`INSERT INTO ${table} SELECT ${columns.map(({ name }) => name).join()} FROM source.${table}`);
  }
  db.exec(
    "INSERT INTO search (rowid, body) SELECT pos, json_extract(json, '$.body') FROM entries WHERE seq > 0",
  );
  db.exec('COMMIT; DETACH source');
  sumAsBefore(db);
  db.close();
  return folder;
}

/** Sums the heads as it was done before they knew who wrote last. */
function sumAsBefore(db: DatabaseSync): void {
  const put = db.prepare('UPDATE heads SET sum = ? WHERE thread = ?');
  const heads = db.prepare<HeadColumns>('SELECT thread, last_seq, updated_at, hash FROM heads').all();
  for (const head of heads)
    put.run(sumOfHead({ ...head, speaker: null, run_seq: null, run_nth: null }), head.thread);
}

test('a record of the first form is brought up to date: nothing is lost, all is counted, words are found again', () => {
  const sample = writeSampleRecord(300);
  folders.push(sample.folder);
  const query = { workspace_id: 'w', participant: 'bob', thread_id: undefined, text: 'word 17', limit: 9 };
  const found = new WordSearch(sample.db).search(query);
  sample.db.close();
  const folder = inFirstForm(sample.folder);
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [], schema_version: 1 });
  const news: OpeningNews[] = [];
  const db = openWriter(join(folder, DATABASE_FILE), (one) => news.push(one));
  expect(news).toEqual([]);
  expect(new WordSearch(db).search(query)).toEqual({ hits: [], lacks: ['changes'] });
  const batches = new Batches(db);
  while (batches.idle() !== undefined);
  expect(new WordSearch(db).search(query)).toEqual(found);
  batches.close();
  expect(derivedRows(folder)).toEqual(derivedRows(sample.folder));
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [], schema_version: MIGRATIONS.length });
});

test('a record of the eighth form, which numbers every entry by a row of its own, is numbered by runs', () => {
  const sample = writeSampleRecord(300);
  folders.push(sample.folder);
  sample.db.close();
  const live = derivedRows(sample.folder);
  const path = join(sample.folder, DATABASE_FILE);
  const older = new (sqliteModule().DatabaseSync)(path);
  const part = (start: string): string =>
    MIGRATIONS[5]?.split(';\n').find((sql) => sql.includes(start)) ?? '';
  older.exec(`DROP TABLE entries_by_sender; ${part('CREATE TABLE entries_by_sender')};
    ALTER TABLE heads RENAME TO heads_of_today; DROP INDEX heads_by_recency; ${part('CREATE TABLE heads')};
    ${part('CREATE INDEX heads_by_recency')}; DROP INDEX deliveries_by_owner; DROP INDEX deliveries_by_owner_and_mark;
    PRAGMA user_version = 8`);
  older.exec(
    "INSERT INTO entries_by_sender SELECT thread, json ->> '$.sender_agent_id', seq, 1, '' FROM entries",
  );
  older.exec(`INSERT INTO heads SELECT thread, last_seq, updated_at, hash, sum, listed_in FROM heads_of_today;
    DROP TABLE heads_of_today`);
  sumAsBefore(older);
  older.close();
  expect(checkRecord(sample.folder)).toMatchObject({ ok: true, problems: [], schema_version: 8 });
  const news: OpeningNews[] = [];
  openWriter(path, (one) => news.push(one)).close();
  expect(news).toEqual([]);
  expect(derivedRows(sample.folder)).toEqual(live);
  expect(checkRecord(sample.folder)).toMatchObject({ ok: true, problems: [], schema_version: 10 });
});

test('what older records call a leave and a letter keeps its content under the new names; a damaged one stays as it is', () => {
  const sample = writeSampleRecord(300);
  folders.push(sample.folder);
  sample.db.close();
  const folder = inFirstForm(sample.folder);
  const path = join(folder, DATABASE_FILE);
  const older = new (sqliteModule().DatabaseSync)(path);
  const put = older.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)');
  const rows: [RecordColumns, isSound: boolean][] = [
    [recordOf('leave', 'rule-1', '{"leave_id":"rule-1","command":"npm test*"}'), true],
    [recordOf('leave', 'rule-2', '{"leave_id":"rule-2","command":"rm *"}'), false],
    [recordOf('letter', 'dl_1', '{"delivery_id":"dl_1","args":{"a":1}}'), true],
  ];
  for (const [row, isSound] of rows) {
    const { kind, workspace_id, key, mark, owner, json } = row;
    put.run(kind, workspace_id, key, mark, owner, json, isSound ? sumOfRecord(row) : 'damaged');
  }
  older.close();
  const db = openWriter(path, () => {});
  const kept = db
    .prepare("SELECT kind, key, json FROM records WHERE key IN ('rule-1', 'rule-2', 'dl_1') ORDER BY key")
    .all();
  expect(kept.map((row) => ({ ...row }))).toEqual([
    { kind: 'delivery_body', key: 'dl_1', json: '{"delivery_id":"dl_1","args":{"a":1}}' },
    { kind: 'approval_rule', key: 'rule-1', json: '{"command":"npm test*","approval_rule_id":"rule-1"}' },
    { kind: 'leave', key: 'rule-2', json: '{"leave_id":"rule-2","command":"rm *"}' },
  ]);
  db.close();
  const { problems } = checkRecord(folder);
  expect(problems).toEqual([expect.stringContaining('leave rule-2')]);
});

function recordOf(kind: string, key: string, json: string): RecordColumns {
  return { kind, workspace_id: 'w', key, mark: '', owner: 'bob', json };
}
