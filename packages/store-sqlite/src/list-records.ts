import { dueField, type RecordKind, type RecordKinds, type RecordsQuery, walkUp } from '@parley/core';

import { readRecord, type RecordColumns } from '@parley/store-rows';
import type { DatabaseSync, StatementSync } from './sqlite.ts';

/** The values of a kind that a query names, each checked by its sum; the reader and the writer ask alike. */
export function listRecords<K extends RecordKind>(
  db: DatabaseSync,
  query: RecordsQuery<K>,
): RecordKinds[K][] {
  const { owners, ...each } = query;
  if (owners !== undefined) return owners.flatMap((one) => listRecords<K>(db, { ...each, owner: one }));
  if (query.line !== undefined)
    return [
      ...walkUp(query.line, query.limit, (key) =>
        listRecords<K>(db, { kind: query.kind, workspace_id: query.workspace_id, keys: [key], limit: 1 }),
      ),
    ];
  const { kind, workspace_id, marks, owner, keys, prefix, past, descending = false } = query;
  const { standing, offset, limit, after, due_by, from, heard_last = false } = query;
  const named = Object.fromEntries((marks ?? []).map((mark, i) => [`mark${i}`, mark]));
  const order = descending ? 'DESC' : 'ASC';
  const conditions = [
    // Written out, so that the indexes of one kind can be used.
    `kind = '${kind}'`,
    ...(workspace_id === undefined ? [] : ['workspace_id = :workspace']),
    ...(marks === undefined
      ? []
      : [
          `mark IN (${Object.keys(named)
            .map((name) => `:${name}`)
            .join()})`,
        ]),
    ...(owner === undefined ? [] : ['owner = :owner']),
    ...(keys === undefined ? [] : ['key IN (SELECT value FROM json_each(:keys))']),
    ...(past === undefined ? [] : [`key ${descending ? '<' : '>'} :past`]),
    ...(from === undefined ? [] : ['key >= :from']),
    ...(after === undefined ? [] : ['(workspace_id, key) > (:after_workspace, :after_key)']),
    ...(due_by === undefined ? [] : [`${dueOf(kind)} <= :due_by`]),
    // The highest code point ends every key that begins so.
    ...(prefix === undefined ? [] : ['key >= :prefix AND key < :prefix || char(0x10ffff)']),
    // Most have none: looking for the word is ten times quicker than reading the JSON.
    ...(standing === undefined
      ? []
      : [`(instr(json, '"delete_at":') = 0 OR coalesce(json ->> '$.delete_at' > :standing, 1))`]),
  ];
  const sql = `SELECT kind, workspace_id, key, mark, owner, json, sum FROM records ${indexFor(query)}
    WHERE ${conditions.join(' AND ')} ORDER BY ${due_by === undefined ? '' : `${dueOf(kind)}, `}${heard_last ? `${HEARD} DESC, ` : ''}workspace_id ${order}, key ${order} LIMIT :limit${offset === undefined ? '' : ' OFFSET :offset'}`;
  const rows = listRows<RecordColumns & { sum: string }>(db, sql, {
    limit,
    ...named,
    ...(workspace_id === undefined ? {} : { workspace: workspace_id }),
    ...(owner === undefined ? {} : { owner }),
    ...(keys === undefined ? {} : { keys: JSON.stringify(keys) }),
    ...(past === undefined ? {} : { past }),
    ...(from === undefined ? {} : { from }),
    ...(after === undefined ? {} : { after_workspace: after.workspace_id, after_key: after.key }),
    ...(due_by === undefined ? {} : { due_by }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(standing === undefined ? {} : { standing }),
    ...(offset === undefined ? {} : { offset }),
  });
  return rows.map((row) => readRecord<K>(row));
}

/** The rows of a query whose statement is prepared once. */
export function listRows<Row>(
  db: DatabaseSync,
  sql: string,
  parameters: Record<string, string | number>,
): Row[] {
  return prepared<Row>(db, sql).all(parameters);
}

const HEARD = "json ->> '$.last_heartbeat_at'";

/** The moment of a value, written as in the index of its kind. */
function dueOf(kind: RecordKind): string {
  return `json ->> '$.${dueField(kind) ?? ''}'`;
}

const statementsByDatabase = new WeakMap<DatabaseSync, Map<string, StatementSync<unknown>>>();

/** A statement is prepared once; there are only so many shapes of a query. */
function prepared<Row>(db: DatabaseSync, sql: string): StatementSync<Row> {
  const statements = statementsByDatabase.get(db) ?? new Map<string, StatementSync<unknown>>();
  statementsByDatabase.set(db, statements);
  const known = statements.get(sql);
  // The same text has the same columns.
  if (known !== undefined) return known as StatementSync<Row>;
  const statement = db.prepare<Row>(sql);
  if (statements.size < MAX_STATEMENTS) statements.set(sql, statement);
  return statement;
}

const MAX_STATEMENTS = 100;

const OWNED = { ask: 'asks', delivery: 'deliveries' };

/** Told outright: SQLite prefers the table's own order, and would walk past all that is resolved to find the open. */
function indexFor({ kind, marks, owner, due_by, heard_last }: RecordsQuery): string {
  if (heard_last === true) return 'INDEXED BY sessions_by_heartbeat';
  if (due_by !== undefined) return `INDEXED BY ${kind}_by_moment`;
  if ((kind === 'ask' || kind === 'delivery') && owner !== undefined)
    return `INDEXED BY ${OWNED[kind]}_by_owner${marks?.length === 1 ? '_and_mark' : ''}`;
  if (kind === 'agent_state' && owner !== undefined) return 'INDEXED BY agent_states_by_owner';
  return marks === undefined ? '' : 'INDEXED BY records_by_mark';
}
