import { crc32 } from 'node:zlib';

import type { DatabaseSync } from '@parley/sqlite';

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
  const row = db.prepare("SELECT value FROM state WHERE name = 'tally'").get() as
    | { value: string }
    | undefined;
  return row === undefined ? undefined : (JSON.parse(row.value) as IndexTally);
}

/** Counts an index as it stands. */
export function countIndex(db: DatabaseSync): IndexTally {
  const count = (table: string): number =>
    (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
  let sums = 0;
  const rows = db.prepare('SELECT workspace, document, version FROM documents').iterate();
  for (const { workspace, document, version } of rows as Iterable<{
    workspace: number;
    document: string;
    version: string;
  }>)
    sums = (sums ^ sumOfDocument(workspace, document, version)) >>> 0;
  return { documents: count('documents'), passages: count('passages'), vectors: count('vectors'), sums };
}

/** What is wrong with an index that looks sound to SQLite: it lacks something that was written, or knows no words of it. */
export function indexProblem(db: DatabaseSync): string | undefined {
  const written = readTally(db);
  const there = countIndex(db);
  const differing = (Object.keys(there) as (keyof IndexTally)[]).find(
    (name) => written !== undefined && written[name] !== there[name],
  );
  if (differing !== undefined)
    return differing === 'sums'
      ? 'its documents are not the ones that were written'
      : `${there[differing]} ${differing} are there, ${written?.[differing]} were written`;
  const spaces = db
    .prepare('SELECT workspace AS id, count(*) AS passages FROM passages GROUP BY workspace')
    .all();
  for (const { id, passages } of spaces as { id: number; passages: number }[]) {
    const table = keywordTable(id);
    const { n } = db.prepare(`SELECT count(*) AS n FROM ${table}_docsize`).get() as { n: number };
    if (n !== passages) return `the words of ${n} passages are there, ${passages} were written`;
    if (!knowsWords(db, id)) return 'passages are not found by their words';
  }
  return undefined;
}

/** How many passages are looked for by their words. */
const SAMPLES = 8;

function knowsWords(db: DatabaseSync, workspace: number): boolean {
  const table = keywordTable(workspace);
  const find = db.prepare(`SELECT 1 FROM ${table} WHERE ${table} MATCH ? AND rowid = ?`);
  const passages = db.prepare(
    `SELECT id, text FROM passages WHERE workspace = ? ORDER BY id DESC LIMIT ${SAMPLES}`,
  );
  return (passages.all(workspace) as { id: number; text: string }[]).every(({ id, text }) => {
    // Of other scripts SQLite may see no word where we see one.
    const word = analyse(text).words.find((one) => /^[a-z0-9]+$/.test(one));
    return word === undefined || find.get(`"${word}"`, BigInt(id)) !== undefined;
  });
}
