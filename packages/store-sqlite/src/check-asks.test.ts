import { expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { type RecordColumns, rowSum, sumOfRecord } from '@parley/store-rows';
import { openSample, removeFolder, writeSampleRecord } from './sample-record.ts';
import type { DatabaseSync } from './sqlite.ts';

/** What the doctor says of a record after somebody has changed it with care: every sum fits again. */
function problemsAfter(change: (db: DatabaseSync) => void): string[] {
  const { folder, db } = writeSampleRecord(30);
  db.close();
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
  const again = openSample(folder);
  change(again);
  again.close();
  const { problems, index } = checkRecord(folder);
  expect(index).toBe('differs');
  removeFolder(folder);
  return problems;
}

function put(db: DatabaseSync, row: RecordColumns): void {
  const { kind, workspace_id, key, mark, owner, json } = row;
  db.prepare(
    'INSERT OR REPLACE INTO records (kind, workspace_id, key, mark, owner, json, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ).run(kind, workspace_id, key, mark, owner, json, sumOfRecord(row));
}

function askRow(db: DatabaseSync, key: string): RecordColumns {
  return db.prepare("SELECT * FROM records WHERE kind = 'ask' AND key = ?").get(key) as never;
}

test('[BRIDGE-15] [R11] an ask that says other than the log is named by the doctor', () => {
  const problems = problemsAfter((db) => {
    const row = askRow(db, 'ask_0000');
    put(db, { ...row, json: row.json.replace('approved', 'denied') });
  });
  expect(problems).toEqual([
    'ask ask_0000: what the log makes of it differs from the live one',
    'the records of kind ask are not the ones that were written',
  ]);
});

test('[R11] an ask that is gone, and one that the log does not know, are named by the doctor', () => {
  expect(
    problemsAfter((db) => db.exec("DELETE FROM records WHERE kind = 'ask' AND key = 'ask_0001'")),
  ).toEqual([
    'ask ask_0001: the log tells of it, but it is not there',
    'the records of kind ask: 2 are there, 3 were written',
  ]);
  const invented = problemsAfter((db) => put(db, { ...askRow(db, 'ask_0002'), key: 'ask_9999' }));
  expect(invented).toEqual([
    'ask ask_9999: it is there, but the log does not tell of it',
    'the records of kind ask: 4 are there, 3 were written',
  ]);
});

test('[BRIDGE-15] [R11] a thread whose state says other than its log is named by the doctor', () => {
  const problems = problemsAfter((db) => {
    const row = db.prepare("SELECT * FROM threads WHERE state LIKE '%renamed%'").get() as Record<
      string,
      string
    >;
    const state = (row['state'] ?? '').replace('"title":"renamed"', '"title":"forged"');
    const { thread_id = '', workspace_id = '', status = '' } = row;
    db.prepare('UPDATE threads SET state = ?, sum = ? WHERE thread_id = ?').run(
      state,
      rowSum(thread_id, workspace_id, status, state),
      thread_id,
    );
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^th_\w+: the state folded from the log differs from the live one$/);
});

test('[R11] an entry that was moved to another position of the log is named by the doctor', () => {
  const { folder, db, lengths } = writeSampleRecord(30);
  db.exec('DROP TRIGGER entries_never_change');
  db.exec('UPDATE entries SET pos = pos + 1000 WHERE pos = (SELECT max(pos) FROM entries)');
  db.close();
  const last = lengths.at(-1) ?? 0;
  expect(checkRecord(folder)).toMatchObject({
    chain: 'broken',
    problems: [`the log has ${last} entries, and its last position is ${last + 1000}`],
  });
  removeFolder(folder);
});
