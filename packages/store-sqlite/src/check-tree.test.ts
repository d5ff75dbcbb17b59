import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { treeId } from '@parley/core';
import { callerOf } from '@parley/core/store-contract';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { DATABASE_FILE, openSqliteStore } from './open-store.ts';
import { sumOfRecord } from '@parley/store-rows';
import { sqliteModule } from './sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-tree-'));
const sound = join(root, 'sound');
afterAll(() => rmSync(root, { recursive: true, force: true }));

const nth = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

beforeAll(async () => {
  cpSync(mkdtempSync(join(root, 'empty-')), sound, { recursive: true });
  const store = await openSqliteStore({ folder: sound, onFault: () => {} });
  const head = { caller: callerOf('ed', 'w1', 'orchestrator'), now: Date.now(), thread_id: treeId('w1') };
  for (const n of [1, 2, 3])
    await store.transact({
      type: 'create_document',
      ...head,
      salt: n,
      agents_create_under: [],
      input: {
        document_id: nth(n),
        parent_id: n === 3 ? nth(1) : 'root',
        content: { mime_type: 'text/markdown', body: `text ${n} [[title 1]]` },
        metadata: { title: `title ${n}` },
        is_human_readable: true,
      },
    });
  await store.transact({ type: 'delete_document', ...head, salt: 9, input: { document_id: nth(1) } });
  await store.close();
}, 60_000);

/** What the doctor says of a copy in which a careless hand changed the records, with good sums. */
function afterChange(change: (rows: Row[]) => Row[]): string[] {
  const folder = mkdtempSync(join(root, 'copy-'));
  cpSync(sound, folder, { recursive: true });
  const db = new (sqliteModule().DatabaseSync)(join(folder, DATABASE_FILE));
  const rows = db
    .prepare('SELECT kind, workspace_id, key, mark, owner, json FROM records')
    .all() as unknown as Row[];
  db.exec('DELETE FROM records');
  const put = db.prepare(
    'INSERT INTO records (kind, workspace_id, key, mark, owner, json, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  for (const row of change(rows)) {
    const { kind, workspace_id, key, mark, owner, json } = row;
    put.run(kind, workspace_id, key, mark, owner, json, sumOfRecord(row));
  }
  db.close();
  return checkRecord(folder).problems;
}

type Row = Parameters<typeof sumOfRecord>[0];

test('a sound tree is found to be one', () => {
  expect(afterChange((rows) => rows)).toEqual([]);
});

test.each(['document', 'branch', 'revision', 'name', 'link', 'content'])(
  '[R11] the doctor misses a %s that the log tells of, and finds one that it does not',
  (kind) => {
    const [first] = afterChange((rows) => {
      const at = rows.findIndex((row) => row.kind === kind);
      return rows.filter((_, i) => i !== at);
    });
    expect(first).toMatch(new RegExp(`^${kind} .*the log tells of it, but it is not there$`, 's'));
    const [second] = afterChange((rows) => {
      const row = rows.find((one) => one.kind === kind);
      return row === undefined ? rows : [...rows, { ...row, key: `${row.key}x` }];
    });
    expect(second).toMatch(new RegExp(`^${kind} .*it is there, but the log does not tell of it$`, 's'));
  },
);

test.each([
  ['document', '"title 2"', '"title two"', /^document .*what the log makes of it differs/],
  ['document', '"delete_root":', '"left_root":', /^document .*what the log makes of it differs/],
  ['content', 'text 2', 'text 5', /^content .*the text is not the one that the log tells of/],
])('[R11] the doctor sees that a %s with %s was changed', (kind, from, to, problem) => {
  const problems = afterChange((rows) =>
    rows.map((row) => (row.kind === kind ? { ...row, json: row.json.replace(from, to) } : row)),
  );
  expect(problems[0]).toMatch(problem);
});
