import type { RecordKind, RecordKinds, RecordsQuery } from '@parley/core';

import { readRecord } from './row-sum.ts';
import type { DatabaseSync, StatementSync } from './sqlite.ts';

/** The values of a kind that a query names, each checked by its sum; the reader and the writer ask alike. */
export function listRecords<K extends RecordKind>(
  db: DatabaseSync,
  query: RecordsQuery<K>,
): RecordKinds[K][] {
  const { kind, workspace_id, marks, owner, keys, prefix, past, descending = false, limit } = query;
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
    // The highest code point ends every key that begins so.
    ...(prefix === undefined ? [] : ['key >= :prefix AND key < :prefix || char(0x10ffff)']),
  ];
  const sql = `SELECT kind, workspace_id, key, mark, owner, json, sum FROM records ${indexFor(query)}
    WHERE ${conditions.join(' AND ')} ORDER BY workspace_id ${order}, key ${order} LIMIT :limit`;
  const rows = prepared(db, sql).all({
    limit,
    ...named,
    ...(workspace_id === undefined ? {} : { workspace: workspace_id }),
    ...(owner === undefined ? {} : { owner }),
    ...(keys === undefined ? {} : { keys: JSON.stringify(keys) }),
    ...(past === undefined ? {} : { past }),
    ...(prefix === undefined ? {} : { prefix }),
  });
  return rows.map((row) => readRecord(row as never) as RecordKinds[K]);
}

const statementsByDatabase = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

/** A statement is prepared once; there are only so many shapes of a query. */
function prepared(db: DatabaseSync, sql: string): StatementSync {
  const statements = statementsByDatabase.get(db) ?? new Map<string, StatementSync>();
  statementsByDatabase.set(db, statements);
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const statement = db.prepare(sql);
  if (statements.size < MAX_STATEMENTS) statements.set(sql, statement);
  return statement;
}

const MAX_STATEMENTS = 100;

/** Told outright: SQLite prefers the table's own order, and would walk past all that is resolved to find the open. */
function indexFor({ kind, marks, owner }: RecordsQuery): string {
  if (kind === 'ask' && owner !== undefined)
    return `INDEXED BY ${marks?.length === 1 ? 'asks_by_owner_and_mark' : 'asks_by_owner'}`;
  return marks === undefined ? '' : 'INDEXED BY records_by_mark';
}
