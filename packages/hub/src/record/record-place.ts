import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { ArtifactRecord, KnownTime } from '@parley/core';
import { ParleyError } from '@parley/protocol';
import type { Reached, RecordReport, RecordSource } from '@parley/store-rows';
import {
  checkRecord,
  DATABASE_FILE,
  exportRecord,
  artifactRecords,
  openFolderSource,
  readClock,
  sqliteVersion,
} from '@parley/store-sqlite';

import type { StateFilesPlace } from '../state-files/with-state-files.ts';

/** A record looked at from outside the hub, wherever it is. */
export interface RecordPlace {
  /** What keeps it, and in which version. */
  engine(): Promise<{ name: 'sqlite' | 'postgres'; version: string }>;
  check(reached?: Reached): Promise<RecordReport>;
  /** Every line of it, of one moment. */
  lines(): AsyncIterable<string> | Iterable<string>;
  source(): Promise<RecordSource>;
  artifacts(): Promise<ArtifactRecord[]>;
  clock(): Promise<KnownTime | undefined>;
}

/** The record of a hub: in its database where it has one, else in its folder. */
export async function recordPlace({ data, store = '' }: StateFilesPlace): Promise<RecordPlace> {
  if (store !== '') {
    const { postgresPlace } = await import('@parley/store-postgres');
    return postgresPlace({ url: store });
  }
  const requireRecord = (): void => {
    if (!existsSync(join(data, DATABASE_FILE)))
      throw new ParleyError('NOT_FOUND', `there is no record in ${data}`);
  };
  return {
    engine: async () => ({ name: 'sqlite', version: sqliteVersion() }),
    check: async (reached) => checkRecord(data, reached),
    lines() {
      requireRecord();
      return exportRecord(data);
    },
    async source() {
      requireRecord();
      return openFolderSource(data);
    },
    artifacts: async () => artifactRecords(data),
    clock: async () => readClock(data),
  };
}
