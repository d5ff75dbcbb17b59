import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';

import { checkIntegrity } from './check-integrity.ts';
import { findDoubts } from './find-doubts.ts';
import type { Hear } from './news.ts';
import { number } from './number.ts';
import { rebuild } from './rebuild.ts';
import { rowSum } from '@parley/store-rows';
import { makeMissingParts } from './schema-parts.ts';
import { numberOldEntries } from './number-old-entries.ts';
import { MIGRATIONS } from './sql/migrations.ts';
import { type DatabaseSync, sqliteCode, SQLITE_FULL, sqliteModule } from './sqlite.ts';
import { checkWal } from './wal-check.ts';

/** Marks a file as ours: "PARL". */
const APPLICATION_ID = 0x5041_524c;

/** Beyond this size the full check at start is left to `parley doctor`; the log's own chain is checked on every read. */
const CHECKED_AT_START = 64 * 1024 * 1024;

const MAX_WARNINGS = 20;

/** How long a connection waits for a lock of somebody else. */
export const BUSY_MS = 5_000;

/**
 * Opens the writer's connection: identity, durable settings, integrity, migrations, in this order; then all that
 * follows from the log and is not as it should be is made anew. What stays damaged leaves the rest usable.
 */
export function openWriter(path: string, hear: Hear): DatabaseSync {
  const torn = checkWal(path);
  if (torn !== undefined) hear({ kind: 'fault', text: torn });
  const db = new (sqliteModule().DatabaseSync)(path, { timeout: BUSY_MS });
  checkIdentity(db);
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY',
  );
  db.exec('PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -4096');
  const all = statSync(path).size <= CHECKED_AT_START;
  const index = all ? requireIntegrity(db) : undefined;
  migrate(db);
  for (const name of makeMissingParts(db))
    hear({ kind: 'fault', text: `${name} was gone from the database` });
  numberOldEntries(db, hear);
  const doubts = findDoubts(db, { all });
  doubts.index ??= index;
  rebuild(db, doubts, hear);
  for (const text of [...doubts.log, ...doubts.lost].slice(0, MAX_WARNINGS)) hear({ kind: 'fault', text });
  settleWal(db, path, hear);
  assertDurable(db);
  return db;
}

/** Opens a connection that can only look, for readers beside the one writer. */
export function openReader(path: string): DatabaseSync {
  const db = new (sqliteModule().DatabaseSync)(path, { readOnly: true, timeout: BUSY_MS });
  db.exec('PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192');
  return db;
}

/** Closes a reader; its moment ends here and not when its statements are collected, so that it stands in nobody's way. */
export function closeReader(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
  } catch {
    // A damaged database may not even let go; closing does.
  } finally {
    db.close();
  }
}

function checkIdentity(db: DatabaseSync): void {
  const id = number(db, 'PRAGMA application_id');
  const version = number(db, 'PRAGMA user_version');
  const tables = number(db, 'SELECT count(*) FROM sqlite_schema');
  if (id !== APPLICATION_ID && (id !== 0 || tables > 0)) {
    throw new ParleyError('UNAVAILABLE', 'the database file is not a Parley log');
  }
  if (version > MIGRATIONS.length) {
    throw new ParleyError(
      'UNAVAILABLE',
      `the log has schema version ${version}, this Parley knows ${MIGRATIONS.length}: it was written by a newer Parley; install that one`,
    );
  }
}

/** Refuses a damaged file; says what is wrong with the index of words alone. */
function requireIntegrity(db: DatabaseSync): string | undefined {
  const { damage, index } = checkIntegrity(db, 5);
  const [said] = damage;
  if (said !== undefined)
    throw new ParleyError(
      'UNAVAILABLE',
      `the log is damaged (${said}); run \`parley doctor\` and restore a backup`,
    );
  return index[0];
}

/** Each migration is one transaction with its version number: after a crash it has run wholly or not at all. */
function migrate(db: DatabaseSync): void {
  db.function('row_sum', { varargs: true, deterministic: true }, (...values: string[]) => rowSum(...values));
  for (let version = number(db, 'PRAGMA user_version'); version < MIGRATIONS.length; version++) {
    db.exec(
      `BEGIN IMMEDIATE; ${MIGRATIONS[version] ?? ''}; PRAGMA user_version = ${version + 1}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`,
    );
  }
}

/**
 * A crash may leave transactions in the WAL that no fsync has covered, and SQLite takes them for committed: before
 * anyone is told of them they are made durable, once in the WAL and once more, by new writes, in the database.
 */
function settleWal(db: DatabaseSync, path: string, hear: Hear): void {
  const wal = openSync(`${path}-wal`, 'r+');
  try {
    fsyncSync(wal);
  } finally {
    closeSync(wal);
  }
  try {
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch (error) {
    // On a full disk there is still all of it to be read.
    if (sqliteCode(error) !== SQLITE_FULL) throw error;
    hear({
      kind: 'fault',
      text: 'the disk is full: the write-ahead log could not be folded into the database',
    });
  }
}

/** The WAL default of some builds falls back to NORMAL at the first write; an acknowledgement must mean fsync. */
export function assertDurable(db: DatabaseSync): void {
  if (number(db, 'PRAGMA synchronous') !== 2)
    throw new ParleyError('UNAVAILABLE', 'SQLite does not run with synchronous=FULL');
}
