import {
  type ArtifactRecord,
  type KnownTime,
  OWN_WORKSPACE,
  type RecordKind,
  type RecordKinds,
} from '@parley/core';
import type { Reached, RecordReport, RecordSource } from '@parley/store-rows';

import { checkPostgres } from './check-record.ts';
import { exportPostgres } from './export-record.ts';
import { listRecords } from './list-records.ts';
import { openPostgresSource } from './record-source.ts';
import { openSnapshot, type PostgresPlace } from './snapshot.ts';
import { type Ask, sql } from './sql.ts';

/** A record in PostgreSQL, looked at from outside the hubs that write to it. */
export function postgresPlace(place: PostgresPlace) {
  const once = async <T>(look: (ask: Ask) => Promise<T>): Promise<T> => {
    const { ask, close } = await openSnapshot(place);
    try {
      return await look(ask);
    } finally {
      await close();
    }
  };
  const list = <K extends RecordKind>(kind: K, workspace_id?: string): Promise<RecordKinds[K][]> =>
    once((ask) => listRecords(ask, { kind, workspace_id, limit: Infinity }));
  return {
    engine: () =>
      once(async (ask) => {
        const [row] = await ask<{ version: string }>(
          sql`SELECT current_setting('server_version') AS version`,
        );
        return { name: 'postgres' as const, version: row?.version ?? '' };
      }),
    check: (reached?: Reached): Promise<RecordReport> => checkPostgres(place, reached),
    lines: (): AsyncIterable<string> => exportPostgres(place),
    source: (): Promise<RecordSource> => openPostgresSource(place),
    artifacts: (): Promise<ArtifactRecord[]> => list('artifact'),
    clock: async (): Promise<KnownTime | undefined> => (await list('clock', OWN_WORKSPACE))[0],
  };
}
