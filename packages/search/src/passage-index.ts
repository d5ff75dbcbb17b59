import type { DatabaseSync, StatementSync } from '@parley/sqlite';

import { analyse } from './analyse.ts';
import { fuse, leastNear, meaningCounts, PER_LEG } from './fuse.ts';
import type {
  Dropped,
  Found,
  FindQuery,
  FoundPassage,
  Index,
  IndexedDocument,
  KnownDocument,
  ModelName,
  PassageKey,
} from './index-words.ts';
import { askedTerms, expressionOf, rarest } from './keyword-query.ts';
import type { AskedVector } from './model.ts';
import { countIndex, type IndexTally, readTally, sumOfDocument } from './index-tally.ts';
import { keywordTable } from './keyword-table.ts';
import { createKeywordTable } from './open-index.ts';
import { withContext, wholePassagesOf } from './passages.ts';
import { cosine, type Near, VectorArena } from './vectors.ts';

/** How many of the nearest are compared again with full numbers. */
const RESCORED = 150;
/** Words that stand in so many passages cost the most and tell the least: a large index asks for the rarer ones alone. */
const MOST_MATCHES = 15_000;
/** How long a count is good: within it the index grows by little. */
const COUNT_MS = 600_000;
const MOST_COUNTS = 20_000;
/** A word in its place, a pair of neighbours, a word without its marks. */
const WEIGHTS = '1.0, 0.5, 1.0';

/** The embedded index, a file; it lives in a thread of its own. */
export class PassageIndex implements Index {
  readonly #db: DatabaseSync;
  readonly #model: ModelName;
  readonly #statements = new Map<string, StatementSync>();
  readonly #arenas = new Map<number, VectorArena>();
  readonly #counts = new Map<string, { count: number; until: number }>();
  #tally: IndexTally;

  constructor(db: DatabaseSync, model: ModelName) {
    this.#db = db;
    this.#model = model;
    this.#tally = readTally(db) ?? countIndex(db);
    this.#checkModel();
  }

  place(): number | undefined {
    const row = this.#run('SELECT value FROM state WHERE name = ?').get('place') as
      | { value: string }
      | undefined;
    return row === undefined ? undefined : Number(row.value);
  }

  apply(puts: readonly IndexedDocument[], drops: readonly Dropped[], place: number | undefined): void {
    this.#transaction(() => {
      for (const { workspace_id, document_id } of [...drops, ...puts]) this.#drop(workspace_id, document_id);
      for (const document of puts) this.#put(document);
      if (place !== undefined)
        this.#run('INSERT OR REPLACE INTO state VALUES (?, ?)').run('place', String(place));
    });
  }

  dropBefore(revision: number): void {
    const select = this.#run(
      `SELECT w.name AS workspace_id, d.document AS document_id FROM documents d JOIN workspaces w ON w.id = d.workspace
       WHERE d.revision < ? ORDER BY d.id LIMIT 1000`,
    );
    for (;;) {
      const old = select.all(revision) as unknown as Dropped[];
      if (old.length === 0) return;
      this.apply([], old, undefined);
    }
  }

  /** Rewrites the index of a workspace, so that of dropped texts not a word is left in the file. */
  forget(workspace_id: string): void {
    const workspace = this.#existing(workspace_id);
    if (workspace === undefined) return;
    const table = keywordTable(workspace);
    this.#db.exec(`INSERT INTO ${table} (${table}) VALUES ('optimize')`);
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  workspaces(): string[] {
    const rows = this.#run('SELECT name FROM workspaces').all() as { name: string }[];
    return rows.map(({ name }) => name);
  }

  known(workspace_id: string): KnownDocument[] {
    const workspace = this.#existing(workspace_id);
    if (workspace === undefined) return [];
    const select = this.#run('SELECT document AS document_id, version FROM documents WHERE workspace = ?');
    return select.all(workspace) as { document_id: string; version: string }[];
  }

  waiting(limit: number): { passage: number; text: string }[] {
    const select = this.#run(
      `SELECT p.id AS passage, d.title, p.headings, p.text FROM passages p JOIN documents d ON d.id = p.document
       WHERE p.embedded = 0 ORDER BY p.id LIMIT ?`,
    );
    const rows = select.all(limit) as { passage: number; title: string; headings: string; text: string }[];
    return rows.map(({ passage, title, headings, text }) => ({
      passage,
      text: withContext(title, JSON.parse(headings) as string[], text),
    }));
  }

  embed(vectors: readonly { passage: PassageKey; vector: Float32Array | null }[]): void {
    this.#transaction(() => {
      for (const { passage, vector } of vectors) {
        const mark = this.#run('UPDATE passages SET embedded = 1 WHERE id = ? RETURNING workspace');
        const row = mark.get(passage) as { workspace: number } | undefined;
        if (row === undefined || vector === null) continue;
        const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
        const had = this.#run('DELETE FROM vectors WHERE passage = ?').run(passage).changes;
        this.#run('INSERT INTO vectors VALUES (?, ?, ?)').run(passage, row.workspace, bytes);
        this.#tally.vectors += 1 - had;
        this.#arenas.get(row.workspace)?.put(Number(passage), vector);
      }
    });
  }

  find({ workspace_id, text, tags, groups, limit, leg }: FindQuery, asked: AskedVector | undefined): Found {
    const workspace = this.#existing(workspace_id);
    if (workspace === undefined) return { passages: [], keyword_hits: 0, vector_hits: 0, pending: 0 };
    const allowed = this.#allowed(workspace, tags, groups);
    const keyword = leg === 'vectors' ? [] : this.#byWords(workspace, text, allowed);
    const isCounted = leg !== 'keyword' && meaningCounts(asked, keyword);
    const near = asked === undefined || !isCounted ? [] : this.#byMeaning(workspace, asked, allowed);
    const passages = fuse([keyword, near]).slice(0, limit);
    const waiting = this.#run('SELECT count(*) AS n FROM passages WHERE workspace = ? AND embedded = 0');
    const { n: pending } = waiting.get(workspace) as { n: number };
    return {
      passages: passages.flatMap((one) => this.#passage(one)),
      keyword_hits: keyword.length,
      vector_hits: near.length,
      pending,
    };
  }

  #byWords(workspace: number, text: string, allowed: ReadonlySet<number> | undefined): Near[] {
    const asked = askedTerms(text);
    if (asked === undefined) return [];
    const telling = this.#isLarge()
      ? rarest(asked, MOST_MATCHES, (one) => this.#matches(workspace, one))
      : asked;
    if (telling.terms.length === 0) return [];
    const query = expressionOf(telling);
    const table = keywordTable(workspace);
    const select = this.#run(
      // `rank` is worked out once for each passage; bm25() in both places would be worked out twice.
      `SELECT rowid AS passage, -rank AS score FROM ${table} WHERE ${table} MATCH ? AND rank MATCH 'bm25(${WEIGHTS})'
       AND rowid >= ? ORDER BY rank LIMIT ?`,
    );
    const from = this.#newest(table, query);
    if (allowed === undefined) return select.all(query, from, PER_LEG) as never;
    const found: Near[] = [];
    for (const row of select.iterate(query, from, -1) as unknown as Iterable<Near>) {
      if (allowed.has(row.passage)) found.push(row);
      if (found.length === PER_LEG) break;
    }
    return found;
  }

  #count(one: 1 | -1, workspace: number, document: string, version: string): void {
    this.#tally.documents += one;
    this.#tally.sums = (this.#tally.sums ^ sumOfDocument(workspace, document, version)) >>> 0;
  }

  /** Where even the rarest word stands in very many passages, the newest of them are ranked: from this one on. */
  #newest(table: string, query: string): bigint {
    if (!this.#isLarge()) return 0n;
    const select = this.#run(
      `SELECT rowid AS first FROM ${table} WHERE ${table} MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?`,
    );
    const { first } = (select.get(query, MOST_MATCHES) ?? { first: 0 }) as { first: number };
    return BigInt(first);
  }

  #isLarge(): boolean {
    const { most } = this.#run('SELECT max(id) AS most FROM passages').get() as { most: number | null };
    return (most ?? 0) > MOST_MATCHES;
  }

  /** In how many passages an expression is true, up to where it makes no more difference. */
  #matches(workspace: number, expression: string): number {
    const table = keywordTable(workspace);
    const key = `${table} ${expression}`;
    const kept = this.#counts.get(key);
    if (kept !== undefined && kept.until > performance.now()) return kept.count;
    const select = this.#run(
      `SELECT count(*) AS count FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ?)`,
    );
    const { count } = select.get(expression, 2 * MOST_MATCHES) as { count: number };
    if (this.#counts.size >= MOST_COUNTS) this.#counts.clear();
    // What is rare costs little to count, and may be written at any time.
    if (count > MOST_MATCHES / 100) this.#counts.set(key, { count, until: performance.now() + COUNT_MS });
    return count;
  }

  #byMeaning(workspace: number, asked: AskedVector, allowed: ReadonlySet<number> | undefined): Near[] {
    const { vector } = asked;
    const least = leastNear(asked);
    const full = this.#run('SELECT vector FROM vectors WHERE passage = ?');
    return this.#arena(workspace)
      .nearest(vector, RESCORED, allowed)
      .flatMap(({ passage }) => {
        const row = full.get(passage) as { vector: Uint8Array } | undefined;
        return row === undefined ? [] : [{ passage, score: cosine(vector, toVector(row.vector)) }];
      })
      .filter(({ score }) => score >= least)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, PER_LEG);
  }

  /** The passages that a question may find; undefined for all. */
  #allowed(
    workspace: number,
    tags: readonly string[],
    groups: readonly string[] | undefined,
  ): Set<number> | undefined {
    if (tags.length === 0 && groups === undefined) return undefined;
    const select = this.#run(
      `SELECT p.id FROM documents d JOIN passages p ON p.document = d.id WHERE d.workspace = :workspace
       AND (:groups IS NULL OR d.belongs IN (SELECT value FROM json_each(:groups)))
       AND (:count = 0 OR :count = (SELECT count(*) FROM tags t
         WHERE t.document = d.id AND t.tag IN (SELECT value FROM json_each(:tags))))`,
    );
    const rows = select.all({
      workspace,
      groups: groups === undefined ? null : JSON.stringify(groups),
      tags: JSON.stringify(tags),
      count: new Set(tags).size,
    }) as { id: number }[];
    return new Set(rows.map(({ id }) => id));
  }

  #passage({ passage, score }: Near): FoundPassage[] {
    const select = this.#run(
      `SELECT d.document AS document_id, d.revision, d.title, p.number AS passage, p.first AS start, p.past AS end,
       p.headings, p.text FROM passages p JOIN documents d ON d.id = p.document WHERE p.id = ?`,
    );
    const row = select.get(passage) as (Omit<FoundPassage, 'headings'> & { headings: string }) | undefined;
    return row === undefined ? [] : [{ ...row, headings: JSON.parse(row.headings) as string[], score }];
  }

  #put(document: IndexedDocument): void {
    const { workspace_id, document_id, version, revision, title, tags, group = '' } = document;
    const workspace = this.#workspace(workspace_id);
    const insert = this.#run(
      'INSERT INTO documents (workspace, document, version, revision, title, belongs) VALUES (?, ?, ?, ?, ?, ?)',
    );
    const id = insert.run(workspace, document_id, version, revision, title, group).lastInsertRowid;
    this.#count(1, workspace, document_id, version);
    for (const tag of new Set(tags)) this.#run('INSERT INTO tags VALUES (?, ?)').run(tag, id);
    const keep = this.#run(
      'INSERT INTO passages (workspace, document, number, first, past, headings, text) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    const find = this.#run(
      `INSERT INTO ${keywordTable(workspace)} (rowid, words, pairs, bare) VALUES (?, ?, ?, ?)`,
    );
    for (const [number, { start, end, headings, text }] of wholePassagesOf(document).entries()) {
      const path = JSON.stringify(headings);
      const rowid = keep.run(workspace, id, number, start, end, path, text).lastInsertRowid;
      this.#tally.passages++;
      const { words, pairs, bare } = analyse(withContext(title, headings, text));
      find.run(rowid, words.join(' '), pairs.join(' '), bare.join(' '));
    }
  }

  #drop(workspace_id: string, document_id: string): void {
    const workspace = this.#existing(workspace_id);
    if (workspace === undefined) return;
    const select = this.#run('SELECT id, version FROM documents WHERE workspace = ? AND document = ?');
    const row = select.get(workspace, document_id) as { id: number; version: string } | undefined;
    if (row === undefined) return;
    this.#count(-1, workspace, document_id, row.version);
    const passages = this.#run('SELECT id FROM passages WHERE document = ?').all(row.id) as { id: number }[];
    for (const { id } of passages) {
      this.#run(`DELETE FROM ${keywordTable(workspace)} WHERE rowid = ?`).run(id);
      this.#tally.passages--;
      this.#tally.vectors -= this.#run('DELETE FROM vectors WHERE passage = ?').run(id).changes;
      this.#arenas.get(workspace)?.drop(id);
    }
    for (const table of ['passages', 'tags'])
      this.#run(`DELETE FROM ${table} WHERE document = ?`).run(row.id);
    this.#run('DELETE FROM documents WHERE id = ?').run(row.id);
  }

  #arena(workspace: number): VectorArena {
    const kept = this.#arenas.get(workspace);
    if (kept !== undefined) return kept;
    const arena = new VectorArena(this.#model.dimensions);
    const rows = this.#run('SELECT passage, vector FROM vectors WHERE workspace = ?').iterate(workspace);
    for (const { passage, vector } of rows as Iterable<{ passage: number; vector: Uint8Array }>)
      arena.put(passage, toVector(vector));
    this.#arenas.set(workspace, arena);
    return arena;
  }

  close(): void {
    this.#db.close();
  }

  #existing(name: string): number | undefined {
    const select = this.#run('SELECT id FROM workspaces WHERE name = ?');
    return (select.get(name) as { id: number } | undefined)?.id;
  }

  #workspace(name: string): number {
    const existing = this.#existing(name);
    if (existing !== undefined) return existing;
    const id = Number(this.#run('INSERT INTO workspaces (name) VALUES (?)').run(name).lastInsertRowid);
    createKeywordTable(this.#db, id);
    return id;
  }

  /** Vectors of another model cannot be compared with those of this one: they are made anew. */
  #checkModel(): void {
    const row = this.#run('SELECT value FROM state WHERE name = ?').get('model') as
      | { value: string }
      | undefined;
    if (row?.value === this.#model.id) return;
    this.#transaction(() => {
      this.#db.exec('DELETE FROM vectors; UPDATE passages SET embedded = 0');
      this.#tally.vectors = 0;
      this.#run('INSERT OR REPLACE INTO state VALUES (?, ?)').run('model', this.#model.id);
    });
  }

  #transaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#run('INSERT OR REPLACE INTO state VALUES (?, ?)').run('tally', JSON.stringify(this.#tally));
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#db.exec('ROLLBACK');
      this.#tally = readTally(this.#db) ?? countIndex(this.#db);
      // What the transaction took out of the arenas is back in the table.
      this.#arenas.clear();
      throw error;
    }
  }

  #run(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }
}

function toVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer,
  );
}
