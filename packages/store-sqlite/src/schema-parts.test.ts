import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { DATABASE_FILE } from './open-store.ts';
import { removeFolder, writeSampleRecord } from './sample-record.ts';

test('[R11] an index that says something else than it was made for is named by the doctor', () => {
  const { folder, db } = writeSampleRecord(60);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
  const path = join(folder, DATABASE_FILE);
  const bytes = readFileSync(path);
  const text = "(workspace_id, owner, key) WHERE kind = 'ask'";
  // Pages keep what stood in them before: the one that counts may be any of them.
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1))
    bytes.write('asj', at + text.indexOf('ask'));
  writeFileSync(path, bytes);
  expect(checkRecord(folder).ok).toBe(false);
  removeFolder(folder);
});
