import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { KeptArtifact } from '@parley/core';

import { listRecords } from './list-records.ts';
import { closeReader, openReader } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';

/** Every artifact that a record tells of, for what looks at their bytes from outside. */
export function listKeptArtifacts(folder: string): KeptArtifact[] {
  const path = join(folder, DATABASE_FILE);
  if (!existsSync(path)) return [];
  const db = openReader(path);
  try {
    return listRecords(db, { kind: 'artifact', workspace_id: undefined, limit: -1 });
  } finally {
    closeReader(db);
  }
}
