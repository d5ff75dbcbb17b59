import type { Entry, PutRecord, WorkspaceHead } from '@parley/core';
import { type CopiedThread, type RecordTarget, unpackAnswer } from '@parley/store-rows';

import { firstContact } from './first-contact.ts';
import { migrate } from './migrate.ts';
import { type LoadedThread, PendingWrites } from './pending-writes.ts';
import { cursorName, sumOfCount } from './rows.ts';
import { EVERY_WORKSPACE, settingOf } from './scope.ts';
import type { PostgresPlace } from './snapshot.ts';
import { sql } from './sql.ts';

/** The row that stands among the kept files while a record is being moved in. */
export const MOVE_NAME = 'moving.json';

/** Makes the record of a database from another one: by the statements that a hub writes with, in pages that stay. */
export async function openPostgresTarget({ url, schema = 'parley' }: PostgresPlace): Promise<RecordTarget> {
  await migrate(url, schema);
  const { ask, close } = await firstContact(url, schema, { patient: true });
  await ask(settingOf(EVERY_WORKSPACE, 'further notice'));
  /** At which position each thread began. */
  const born = new Map<string, number>();

  async function run(write: (writes: PendingWrites) => void, counts = new Map<string, number>()) {
    const writes = new PendingWrites(ask);
    write(writes);
    await ask(sql`BEGIN`);
    try {
      await writes.complete();
      await writes.flush(counts);
      await ask(sql`COMMIT`);
    } catch (error) {
      await ask(sql`ROLLBACK`).catch(() => {});
      throw error;
    }
  }

  async function loadBorn(ids: readonly string[]): Promise<void> {
    const missing = ids.filter((id) => !born.has(id));
    if (missing.length === 0) return;
    const rows = await ask<{ thread_id: string; born: number }>(sql`
      SELECT thread_id, born FROM threads WHERE thread_id = ANY(${missing})`);
    for (const row of rows) born.set(row.thread_id, row.born);
  }

  return {
    async heads() {
      return ask<WorkspaceHead & { hash: string }>(sql`
        SELECT w.workspace_id, w.pos, e.hash FROM workspaces w
        JOIN entries e ON e.workspace_id = w.workspace_id AND e.pos = w.pos ORDER BY w.workspace_id`);
    },
    async isBlank() {
      const [row] = await ask<{ blank: boolean }>(sql`SELECT NOT (EXISTS (SELECT 1 FROM entries)
        OR EXISTS (SELECT 1 FROM records) OR EXISTS (SELECT 1 FROM kept_files)) AS blank`);
      return row?.blank === true;
    },
    async note() {
      const [row] = await ask<{ text: string }>(sql`SELECT text FROM kept_files WHERE name = ${MOVE_NAME}`);
      // Written by this program, whole.
      return row === undefined ? undefined : (JSON.parse(row.text) as { from: string }).from;
    },
    async begin(from) {
      await ask(sql`INSERT INTO kept_files VALUES (${MOVE_NAME}, 1, ${JSON.stringify({ from })}, '')`);
    },
    async addEntries(entries, threads) {
      const byId = new Map<string, CopiedThread>(threads.map((one) => [one.state.thread_id, one]));
      await loadBorn([...byId.keys()]);
      const known = new Set(born.keys());
      const counts = new Map<string, number>();
      for (const { thread_id, seq, workspace_id, pos } of entries) {
        if (seq === 0) born.set(thread_id, pos);
        counts.set(workspace_id, pos);
      }
      const names = [...counts.keys()];
      const sums = names.map((name) => sumOfCount(name, 0));
      await ask(sql`INSERT INTO workspaces SELECT u.id, 0, u.sum
        FROM unnest(${names}::text[], ${sums}::text[]) AS u (id, sum) ON CONFLICT DO NOTHING`);
      await run((writes) => {
        for (const { state, head } of byId.values()) {
          const { thread_id } = state;
          const stored = known.has(thread_id) ? state : undefined;
          const loaded: LoadedThread = { state, head, born: born.get(thread_id) ?? 0, stored };
          writes.touched.add(loaded);
        }
        for (const { json, ...row } of entries)
          // Its hash was compared: it is the entry that was sealed.
          writes.added.push({ ...row, json, entry: JSON.parse(json) as Entry });
      }, counts);
    },
    async clearRest() {
      await ask(sql`DELETE FROM cursors`);
      await ask(sql`DELETE FROM records`);
      await ask(sql`DELETE FROM idempotency`);
    },
    addCursors: (cursors) =>
      run((writes) => {
        for (const one of cursors) writes.cursors.set(cursorName(one.thread_id, one.agent_id), one);
      }),
    addRecords: (records) =>
      run((writes) => {
        for (const { json, ...row } of records) {
          // The sum of the row was compared: it is the record that was put.
          const record = { ...row, value: JSON.parse(json) as unknown } as PutRecord;
          const { kind, workspace_id, key } = record;
          writes.records.set(JSON.stringify([kind, workspace_id, key]), { record, kind, workspace_id, key });
        }
      }),
    addKeys: (keys) =>
      run((writes) => {
        for (const { name, fingerprint, at, result } of keys)
          writes.keys.set(name, { fingerprint, at, result: unpackAnswer(result) });
      }),
    async settle() {
      await ask(sql`ANALYZE`);
    },
    async done() {
      await ask(sql`DELETE FROM kept_files WHERE name = ${MOVE_NAME}`);
    },
    close,
  };
}
