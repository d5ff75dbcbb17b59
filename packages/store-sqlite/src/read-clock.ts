import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { type KnownTime, OWN_WORKSPACE } from '@parley/core';

import { listRecords } from './list-records.ts';
import { closeReader } from './open-database.ts';
import { openRecord } from './open-record.ts';
import { DATABASE_FILE } from './open-store.ts';

/** What the hub of a folder last knew of its clock. */
export function readClock(folder: string): KnownTime | undefined {
  if (!existsSync(join(folder, DATABASE_FILE))) return undefined;
  const db = openRecord(folder);
  try {
    return listRecords(db, { kind: 'clock', workspace_id: OWN_WORKSPACE, limit: 1 })[0];
  } finally {
    closeReader(db);
  }
}
