import { closeSync, existsSync, openSync, rmSync } from 'node:fs';

import {
  type DatabaseSync,
  isPassing,
  SQLITE_CORRUPT,
  SQLITE_NOTADB,
  sqliteCode,
  sqliteModule,
  oneRow,
} from '@parley/sqlite';

import { indexProblem } from './index-tally.ts';
import { keywordTable } from './keyword-table.ts';

/** Raised when what is kept, or how words are taken apart, changes: the index is then made anew from the documents. */
export const VERSION = 3;

/** The numbers of passages are never used twice: a vector that is still being made for an old text must find no new one. */
const TABLES = `
  CREATE TABLE workspaces (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY, workspace INTEGER NOT NULL, document TEXT NOT NULL,
    version TEXT NOT NULL, revision INTEGER NOT NULL, title TEXT NOT NULL,
    belongs TEXT NOT NULL DEFAULT '',
    UNIQUE (workspace, document)
  ) STRICT;
  CREATE INDEX documents_of ON documents (workspace, belongs);
  CREATE TABLE tags (tag TEXT NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (tag, document)) STRICT, WITHOUT ROWID;
  CREATE INDEX tags_of ON tags (document);
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, workspace INTEGER NOT NULL, document INTEGER NOT NULL, number INTEGER NOT NULL,
    first INTEGER NOT NULL, past INTEGER NOT NULL, headings TEXT NOT NULL, text TEXT NOT NULL,
    embedded INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX passages_of ON passages (document);
  CREATE INDEX passages_waiting ON passages (id) WHERE embedded = 0;
  CREATE INDEX passages_waiting_of ON passages (workspace) WHERE embedded = 0;
  CREATE TABLE vectors (passage INTEGER PRIMARY KEY, workspace INTEGER NOT NULL, vector BLOB NOT NULL) STRICT;
  CREATE INDEX vectors_of ON vectors (workspace);
  CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** What changed without a new version: the index of before is of use as it is. */
const LATER = `
  DROP INDEX IF EXISTS documents_by_age;
  CREATE INDEX IF NOT EXISTS documents_by_place ON documents (workspace, revision);
`;

/**
 * Opens the index. It holds nothing that the documents do not: one that cannot be used, or lacks something, is thrown
 * away and made anew; `tell` hears why.
 */
export function openIndex(path: string, tell: (why: string) => void = () => {}): DatabaseSync {
  try {
    return prepare(path);
  } catch (error) {
    if (isPassing(error, path)) throw error;
    tell(error instanceof Error ? error.message : String(error));
    dropIndex(path);
    return prepare(path);
  }
}

/** Throws an index away: whoever opens it next makes it anew. */
export function dropIndex(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
}

/** The index lost something while it was open. */
export class IndexDamaged extends Error {}

/** A table that is gone, or has lost what FTS5 keeps beside it; SQLite has no code of its own for either. */
const LOST_TABLE = /no such table|vtable constructor failed/;

/** True for what speaks against the index itself: nothing that it says may be believed. */
export function isDamage(error: unknown): boolean {
  if (error instanceof IndexDamaged) return true;
  const code = sqliteCode(error);
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return true;
  return error instanceof Error && LOST_TABLE.test(error.message);
}

/** What is wrong with an index that nobody has to have; undefined where it is sound, or not there. */
export function checkIndex(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new (sqliteModule().DatabaseSync)(path, { readOnly: true, timeout: 5_000 });
    db.exec('BEGIN');
    const { user_version: version } = oneRow(
      db.prepare<{ user_version: number }>('PRAGMA user_version').get(),
    );
    return version === VERSION ? indexProblem(db) : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    db?.close();
  }
}

function prepare(path: string): DatabaseSync {
  createPrivate(path);
  const db = new (sqliteModule().DatabaseSync)(path, { timeout: 5_000 });
  try {
    // It can be made anew, so a power cut may cost its last writes: the place in the log is written with them.
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON; PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 16777216',
    );
    const { user_version: version } = oneRow(
      db.prepare<{ user_version: number }>('PRAGMA user_version').get(),
    );
    if (version === 0) db.exec(`BEGIN IMMEDIATE; ${TABLES}; PRAGMA user_version = ${VERSION}; COMMIT`);
    else if (version !== VERSION) throw new Error(`the index has version ${version}`);
    db.exec(LATER);
    const [check] = db.prepare<{ quick_check: string }>('PRAGMA quick_check(1)').all();
    if (check?.quick_check !== 'ok') throw new Error('the index is damaged');
    const problem = indexProblem(db);
    if (problem !== undefined) throw new Error(problem);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there, or SQLite will say why it cannot be.
  }
}

const COLUMNS = 'words, pairs, bare';
const TOKENS = `tokenize = "porter unicode61 remove_diacritics 0 tokenchars '_'"`;

/** Makes what one workspace needs. It keeps its words: without them FTS5 goes on counting passages that have gone. */
export function createKeywordTable(db: DatabaseSync, workspace: number): void {
  db.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS ${keywordTable(workspace)} USING fts5(${COLUMNS}, ${TOKENS})`);
}

/** A table of one connection for the sentences among which an answer is looked for. */
export function createSentenceTable(db: DatabaseSync): void {
  db.exec(`CREATE VIRTUAL TABLE temp.sentences USING fts5(${COLUMNS}, ${TOKENS})`);
}

/** Tables of one connection in which the words of texts are counted. */
export function createTermTables(db: DatabaseSync): void {
  db.exec(
    `CREATE VIRTUAL TABLE terms USING fts5(${COLUMNS}, ${TOKENS}); CREATE VIRTUAL TABLE told USING fts5vocab(terms, instance)`,
  );
}
