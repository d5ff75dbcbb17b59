import { CHAIN_START, link } from '@parley/core';
import { exportedRecord } from '@parley/store-rows';

import { sourceOf } from './record-source.ts';
import { openSnapshot, type PostgresPlace } from './snapshot.ts';
import { sql } from './sql.ts';

/**
 * Every line of the record as JSON, all of one moment, workspace by workspace in the order the hub accepted it; the log
 * may grow meanwhile. What is secret in it stays behind.
 */
export async function* exportPostgres(place: PostgresPlace): AsyncGenerator<string> {
  const snapshot = await openSnapshot(place);
  const { ask, schemaVersion, close } = snapshot;
  const source = sourceOf(snapshot);
  try {
    const [all] = await ask<{ entries: number; cursors: number; records: number }>(sql`SELECT
      (SELECT count(*) FROM entries) AS entries, (SELECT count(*) FROM cursors) AS cursors,
      (SELECT count(*) FROM records) AS records`);
    yield JSON.stringify({
      type: 'parley.export',
      version: 2,
      schema_version: schemaVersion,
      entries: all?.entries ?? 0,
      cursors: all?.cursors ?? 0,
      records: all?.records ?? 0,
    });
    const heads = new Map<string, string>();
    for await (const page of source.entries(new Map()))
      for (const { workspace_id, pos, thread_id, hash, json } of page) {
        const isSound = link(heads.get(thread_id) ?? CHAIN_START, json) === hash;
        heads.set(thread_id, hash);
        // Damage is handed out as what it is, so that the rest can still be saved.
        if (!isSound) yield JSON.stringify({ type: 'damaged', workspace_id, pos, hash, text: json });
        else
          yield `{"type":"entry","workspace_id":${JSON.stringify(workspace_id)},"pos":${pos},"hash":${JSON.stringify(hash)},"entry":${json}}`;
      }
    for await (const page of source.cursors())
      for (const cursor of page) yield JSON.stringify({ type: 'cursor', cursor });
    for await (const page of source.records()) for (const row of page) yield exportedRecord(row);
  } finally {
    await close();
  }
}
