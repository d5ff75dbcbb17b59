import { fieldsOf } from '@parley/protocol';
import { dueField, type RecordKind, type RecordKinds, type RecordsQuery } from '@parley/core';
import { readRecord, type RecordColumns } from '@parley/store-rows';

import { type Ask, type Sql, sql } from './sql.ts';

/** The highest code point ends every key that begins so. */
export const LAST_KEY = '\u{10ffff}';

/** The values of a kind that a query names, each checked by its sum; readers and the writer ask alike. */
export async function listRecords<K extends RecordKind>(
  ask: Ask,
  query: RecordsQuery<K>,
): Promise<RecordKinds[K][]> {
  return (await listRows(ask, query)).map((row) => readRecord<K>(row));
}

/** Their rows. */
export async function listRows(ask: Ask, query: RecordsQuery): Promise<(RecordColumns & { sum: string })[]> {
  const { owners, owner, ...each } = query;
  if (query.line !== undefined) return ask(lineOf(query.workspace_id ?? '', query.line, query.limit));
  if (owners === undefined) return ask(rowsOf(each, owner === undefined ? undefined : sql`${owner}`));
  if (owners.length === 0) return [];
  // One question, however many they are.
  const rows = await ask<RecordColumns & { sum: string }>(sql`
    SELECT r.* FROM unnest(${[...owners]}::text[]) AS u (name) CROSS JOIN LATERAL (${rowsOf(each, sql`u.name`)}) r`);
  const places = new Map(owners.map((name, i) => [name, i]));
  const placeOf = (row: RecordColumns): number => places.get(row.owner) ?? 0;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** A document and all above it, in one question however deep it is; a ring, which cannot be, ends at the limit. */
function lineOf(workspaceId: string, id: string, limit: number): Sql {
  return sql`
    WITH RECURSIVE line (id, depth) AS (
      SELECT ${id}::text, 0
      UNION ALL SELECT d.json::json ->> 'parent_id', l.depth + 1 FROM line l JOIN records d
        ON d.kind = 'document' AND d.workspace_id = ${workspaceId} AND d.key = l.id WHERE l.depth < ${limit}::int)
    SELECT r.kind, r.workspace_id, r.key, r.mark, r.owner, r.json, r.sum FROM line l
    JOIN records r ON r.kind = 'document' AND r.workspace_id = ${workspaceId} AND r.key = l.id
    ORDER BY l.depth LIMIT ${limit}::int`;
}

function rowsOf(query: Omit<RecordsQuery, 'owners' | 'owner'>, owner: Sql | undefined): Sql {
  const { kind, workspace_id, marks, keys, prefix, past, descending = false } = query;
  const { standing, offset = 0, limit, after, due_by, from, heard_last = false } = query;
  const moment = typeof due_by === 'number' ? sql`due_ms` : sql`due_at`;
  const order = descending ? sql`DESC` : sql`ASC`;
  return sql`
    SELECT kind, workspace_id, key, mark, owner, json, sum FROM records
    WHERE kind = ${kind}
    ${workspace_id === undefined ? sql`` : sql`AND workspace_id = ${workspace_id}`}
    ${marks === undefined ? sql`` : sql`AND mark = ANY(${[...marks]})`}
    ${owner === undefined ? sql`` : sql`AND owner = ${owner}`}
    ${keys === undefined ? sql`` : sql`AND key = ANY(${[...keys]})`}
    ${past === undefined ? sql`` : descending ? sql`AND key < ${past}` : sql`AND key > ${past}`}
    ${from === undefined ? sql`` : sql`AND key >= ${from}`}
    ${after === undefined ? sql`` : sql`AND (workspace_id, key) > (${after.workspace_id}, ${after.key})`}
    ${due_by === undefined ? sql`` : sql`AND ${moment} <= ${due_by}`}
    ${prefix === undefined ? sql`` : sql`AND key >= ${prefix} AND key < ${`${prefix}${LAST_KEY}`}`}
    ${standing === undefined ? sql`` : sql`AND (delete_at IS NULL OR delete_at > ${standing})`}
    ORDER BY ${due_by === undefined ? sql`` : sql`${moment}, `}
      ${heard_last ? sql`heard_at DESC NULLS LAST, ` : sql``}
      workspace_id ${order}, key ${order}
    LIMIT ${Number.isFinite(limit) && limit >= 0 ? limit : null} OFFSET ${offset}`;
}

/** The columns by which a record's moment is found. */
export function momentsOf(
  kind: RecordKind,
  value: object,
): { due_at: string | null; due_ms: number | null; delete_at: string | null; heard_at: string | null } {
  const fields = fieldsOf(value);
  const name = dueField(kind);
  const due = name === undefined ? undefined : fields[name];
  const { delete_at, last_heartbeat_at } = fields;
  return {
    due_at: typeof due === 'string' ? due : null,
    due_ms: typeof due === 'number' ? due : null,
    delete_at: typeof delete_at === 'string' ? delete_at : null,
    heard_at: typeof last_heartbeat_at === 'string' ? last_heartbeat_at : null,
  };
}
