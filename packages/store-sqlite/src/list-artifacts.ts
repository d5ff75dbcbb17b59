import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { ArtifactRecord } from '@parley/core';

import { listRecords } from './list-records.ts';
import { closeReader } from './open-database.ts';
import { openRecord } from './open-record.ts';
import { DATABASE_FILE } from './open-store.ts';

/** Every artifact that a record tells of, for what looks at their bytes from outside. */
export function artifactRecords(folder: string): ArtifactRecord[] {
  if (!existsSync(join(folder, DATABASE_FILE))) return [];
  const db = openRecord(folder);
  try {
    return listRecords(db, { kind: 'artifact', workspace_id: undefined, limit: -1 });
  } finally {
    closeReader(db);
  }
}
