import { crc32 } from 'node:zlib';

import { keysOf } from '@parley/protocol';
import { type DatabaseSync, oneRow, rowsOf } from '@parley/sqlite';

import { analyse } from './analyse.ts';
import { keywordTable } from './keyword-table.ts';

/** How much an index holds, and the sums of its documents put together. */
export interface IndexTally {
  documents: number;
  passages: number;
  vectors: number;
  sums: number;
}

/** The sum of one document and its version, which come and go with all that is indexed of it. */
export function sumOfDocument(workspace: number, document: string, version: string): number {
  return crc32(`${workspace}\n${document}\n${version}`);
}

/** What was written of an index; undefined for one that was never counted. */
export function readTally(db: DatabaseSync): IndexTally | undefined {
  const row = db.prepare<{ value: string }>("SELECT value FROM state WHERE name = 'tally'").get();
  // The index wrote it of itself.
  return row === undefined ? undefined : (JSON.parse(row.value) as IndexTally);
}

/** Counts an index as it stands. */
export function countIndex(db: DatabaseSync): IndexTally {
  const count = (table: string): number =>
    oneRow(db.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).get()).n;
  let sums = 0;
  const rows = rowsOf(
    db.prepare<{ workspace: number; document: string; version: string }>(
      'SELECT workspace, document, version FROM documents',
    ),
  );
  for (const { workspace, document, version } of rows)
    sums = (sums ^ sumOfDocument(workspace, document, version)) >>> 0;
  return { documents: count('documents'), passages: count('passages'), vectors: count('vectors'), sums };
}

/** What is wrong with an index that looks sound to SQLite: it lacks something that was written, or knows no words of it. */
export function indexProblem(db: DatabaseSync): string | undefined {
  const written = readTally(db);
  const there = countIndex(db);
  const differing = keysOf(there).find((name) => written !== undefined && written[name] !== there[name]);
  if (differing !== undefined)
    return differing === 'sums'
      ? 'its documents are not the ones that were written'
      : `${there[differing]} ${differing} are there, ${written?.[differing]} were written`;
  if (
    db.prepare('SELECT 1 FROM documents WHERE workspace NOT IN (SELECT id FROM workspaces)').get() !==
    undefined
  )
    return 'the names of workspaces are gone';
  const spaces = db
    .prepare<{ id: number; passages: number }>(
      'SELECT workspace AS id, count(*) AS passages FROM passages GROUP BY workspace',
    )
    .all();
  for (const { id, passages } of spaces) {
    const table = keywordTable(id);
    const { n } = oneRow(db.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${table}_docsize`).get());
    if (n !== passages) return `the words of ${n} passages are there, ${passages} were written`;
    if (!knowsWords(db, id)) return 'passages are not found by their words';
  }
  return undefined;
}

/** How many passages are looked for by their words. */
const SAMPLES = 8;
/** Letters that are such to every SQLite; of younger scripts it may see no word where we see one. */
const SURE =
  /^[a-z0-9\u0430-\u044f\u0620-\u064a\u0905-\u0939\u0e01-\u0e2e\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3\ue000-\uf8ff]+$/;

/** False where the newest passages of a workspace are not found by their words: FTS5 takes what it has lost for nothing. */
export function knowsWords(db: DatabaseSync, workspace: number): boolean {
  const table = keywordTable(workspace);
  const find = db.prepare(`SELECT 1 FROM ${table} WHERE ${table} MATCH ? AND rowid = ?`);
  const passages = db.prepare<{ id: number; text: string }>(
    `SELECT p.id, p.text FROM documents d CROSS JOIN passages p ON p.document = d.id
     WHERE d.workspace = ? ORDER BY d.revision DESC LIMIT ${SAMPLES}`,
  );
  return passages.all(workspace).every(({ id, text }) => {
    const word = analyse(text).words.find((one) => SURE.test(one));
    return word === undefined || find.get(`"${word}"`, BigInt(id)) !== undefined;
  });
}
