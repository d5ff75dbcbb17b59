import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { treeId } from '@parley/core';
import type { Caller } from '@parley/protocol';
import { expect, onTestFinished, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { artifactRecords } from './list-artifacts.ts';
import { openSqliteStore } from './open-store.ts';
import { type RecordColumns, sumOfRecord } from '@parley/store-rows';
import { openSample } from './sample-record.ts';
import type { DatabaseSync } from './sqlite.ts';

const caller: Caller = { agent_id: 'ed', workspace_id: 'w', role: 'worker', session_id: 's' };

async function recordWithArtifacts(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-artifacts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = await openSqliteStore({
    folder,

    maxBatch: 10,
    maxQueue: 10,
    onFault: () => {},
  });
  const input = { name: 'a.txt', mime_type: 'text/plain', bytes: 5, sha256: 'a'.repeat(64) };
  const head = { caller, now: 1_900_000_000_000, thread_id: treeId('w') };
  for (const [salt, artifact_id] of ['art_1', 'art_2'].entries())
    await store.transact({ type: 'put_artifact', ...head, salt, artifact_id, input });
  await expect(
    store.transact({
      type: 'put_artifact',
      ...head,
      caller: { ...caller, role: 'observer' },
      salt: 9,
      artifact_id: 'art_3',
      input,
    }),
  ).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await store.close();
  return folder;
}

function problemsAfter(folder: string, change: (db: DatabaseSync) => void): string[] {
  const db = openSample(folder);
  change(db);
  db.close();
  return checkRecord(folder).problems;
}

test('[KNOW-12] [R11] an artifact stands in the log and beside it, and the doctor compares both', async () => {
  const folder = await recordWithArtifacts();
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [], counts: { artifacts: 2 } });
  expect(artifactRecords(folder).map(({ artifact_id }) => artifact_id)).toEqual(['art_1', 'art_2']);
  const forged = problemsAfter(folder, (db) => {
    const row = db.prepare("SELECT * FROM records WHERE key = 'art_1'").get() as unknown as RecordColumns;
    const json = row.json.replace('a.txt', 'b.txt');
    db.prepare("UPDATE records SET json = ?, sum = ? WHERE key = 'art_1'").run(
      json,
      sumOfRecord({ ...row, json }),
    );
  });
  expect(forged).toEqual([
    'artifact art_1: what the log makes of it differs from the live one',
    'the records of kind artifact are not the ones that were written',
  ]);
});

test('[KNOW-12] [R11] an artifact that is gone, and one that no log knows, are named by the doctor', async () => {
  const gone = problemsAfter(await recordWithArtifacts(), (db) =>
    db.exec("DELETE FROM records WHERE key = 'art_2'"),
  );
  expect(gone).toEqual([
    'artifact art_2: the log tells of it, but it is not there',
    'the records of kind artifact: 1 are there, 2 were written',
  ]);
  const invented = problemsAfter(await recordWithArtifacts(), (db) => {
    const row = db.prepare("SELECT * FROM records WHERE key = 'art_1'").get() as unknown as RecordColumns;
    const copy = { ...row, key: 'art_9' };
    const { kind, workspace_id, key, mark, owner, json } = copy;
    db.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)').run(
      kind,
      workspace_id,
      key,
      mark,
      owner,
      json,
      sumOfRecord(copy),
    );
  });
  expect(invented).toEqual([
    'artifact art_9: it is there, but the log does not tell of it',
    'the records of kind artifact: 3 are there, 2 were written',
  ]);
});
