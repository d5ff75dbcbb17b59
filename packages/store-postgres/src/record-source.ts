import type { WorkspaceHead } from '@parley/core';
import type { Cursor } from '@parley/protocol';
import {
  type CopiedEntry,
  type CopiedKey,
  damaged,
  readRecord,
  type RecordColumns,
  type RecordSource,
  rowSum,
} from '@parley/store-rows';

import {
  checkCursor,
  CURSOR_COLUMNS,
  type CursorRecord,
  readCount,
  readThread,
  type ThreadRecord,
} from './rows.ts';
import { inPages, openSnapshot, type PostgresPlace, type Snapshot } from './snapshot.ts';
import { sql } from './sql.ts';

type KeyRow = CopiedKey & { sum: string };

/** The record of a database as it is at one moment, to be copied elsewhere. */
export async function openPostgresSource(place: PostgresPlace): Promise<RecordSource> {
  return sourceOf(await openSnapshot(place));
}

/** The same over a moment that is open already. */
export function sourceOf({ ask, close }: Snapshot): RecordSource {
  const heads = async (): Promise<WorkspaceHead[]> => {
    const rows = await ask<{ workspace_id: string; pos: number; sum: string }>(sql`
      SELECT workspace_id, pos, sum FROM workspaces WHERE pos > 0 ORDER BY workspace_id`);
    return rows.map((row) => ({ workspace_id: row.workspace_id, pos: readCount(row) }));
  };
  return {
    heads,
    async *entries(past) {
      for (const { workspace_id } of await heads())
        yield* inPages<CopiedEntry>(
          ask,
          (last, limit) => sql`SELECT workspace_id, pos, thread_id, seq, hash, json FROM entries
            WHERE workspace_id = ${workspace_id} AND pos > ${last?.pos ?? past.get(workspace_id) ?? 0}
            ORDER BY pos LIMIT ${limit}`,
        );
    },
    async hashAt(workspaceId, pos) {
      const [row] = await ask<{ hash: string }>(sql`
        SELECT hash FROM entries WHERE workspace_id = ${workspaceId} AND pos = ${pos}`);
      return row?.hash;
    },
    async threads(ids) {
      const rows = await ask<ThreadRecord>(sql`SELECT * FROM threads WHERE thread_id = ANY(${[...ids]})`);
      return rows.map((row) => readThread(row));
    },
    async *cursors() {
      const pages = inPages<CursorRecord>(
        ask,
        (last, limit) => sql`SELECT ${CURSOR_COLUMNS} FROM cursors c
          WHERE (c.thread_id, c.agent_id) > (${last?.thread_id ?? ''}, ${last?.agent_id ?? ''})
          ORDER BY thread_id, agent_id LIMIT ${limit}`,
      );
      for await (const page of pages)
        yield page.map((row): Cursor => {
          checkCursor(row);
          const { sum: _sum, ...cursor } = row;
          return cursor;
        });
    },
    async *records() {
      const pages = inPages<RecordColumns & { sum: string }>(
        ask,
        (last, limit) => sql`SELECT kind, workspace_id, key, mark, owner, json, sum FROM records
          WHERE (kind, workspace_id, key) > (${last?.kind ?? ''}, ${last?.workspace_id ?? ''}, ${last?.key ?? ''})
          ORDER BY kind, workspace_id, key LIMIT ${limit}`,
      );
      for await (const page of pages) {
        for (const row of page) readRecord(row);
        yield page;
      }
    },
    async *keys() {
      const pages = inPages<KeyRow>(
        ask,
        (last, limit) => sql`SELECT name, fingerprint, at, result, sum FROM idempotency
          WHERE name > ${last?.name ?? ''} ORDER BY name LIMIT ${limit}`,
      );
      for await (const page of pages) {
        for (const { name, fingerprint, at, result, sum } of page)
          if (rowSum(name, fingerprint, at, result) !== sum) throw damaged(`the idempotency key ${name}`);
        yield page;
      }
    },
    close,
  };
}
