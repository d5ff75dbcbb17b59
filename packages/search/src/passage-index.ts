import type { DatabaseSync, StatementSync } from '@parley/sqlite';

import { analyse } from './analyse.ts';
import { fuse } from './fuse.ts';
import type { Found, FindQuery, FoundPassage, IndexedDocument, KnownDocument } from './index-words.ts';
import { keywordQuery } from './keyword-query.ts';
import type { AskedVector } from './model.ts';
import { MODEL_ID } from './model-files.ts';
import { createKeywordTable, keywordTable } from './open-index.ts';
import { passagesOf } from './passages.ts';
import { cosine, type Near, VectorArena } from './vectors.ts';

/** How many each leg brings to the fusion. */
const PER_LEG = 100;
/** How many of the nearest are compared again with full numbers. */
const RESCORED = 150;
/** Nearer than this two texts are only by chance, and where the language is not sure, than the other. */
const NEAR_ENOUGH = 0.2;
const SURELY_NEAR = 0.35;
/** A word in its place, a pair of neighbours, a word without its marks. */
const WEIGHTS = '1.0, 0.5, 1.0';

/** What is kept of the documents to find them by; it lives in a thread of its own. */
export class PassageIndex {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #arenas = new Map<number, VectorArena>();

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#checkModel();
  }

  /** The place in the log up to which all documents are here; undefined for a new index. */
  place(): number | undefined {
    const row = this.#run('SELECT value FROM state WHERE name = ?').get('place') as
      | { value: string }
      | undefined;
    return row === undefined ? undefined : Number(row.value);
  }

  /** Puts and drops documents and moves the place, all or nothing. */
  apply(puts: readonly IndexedDocument[], drops: readonly Dropped[], place: number | undefined): void {
    this.#transaction(() => {
      for (const { workspace_id, document_id } of [...drops, ...puts]) this.#drop(workspace_id, document_id);
      for (const document of puts) this.#put(document);
      if (place !== undefined)
        this.#run('INSERT OR REPLACE INTO state VALUES (?, ?)').run('place', String(place));
    });
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

  /** Passages that have no vector yet. */
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

  /** Keeps vectors; null says that the model does not know the language. */
  embed(vectors: readonly { passage: number; vector: Float32Array | null }[]): void {
    this.#transaction(() => {
      for (const { passage, vector } of vectors) {
        const mark = this.#run('UPDATE passages SET embedded = 1 WHERE id = ? RETURNING workspace');
        const row = mark.get(passage) as { workspace: number } | undefined;
        if (row === undefined || vector === null) continue;
        const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
        this.#run('INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)').run(passage, row.workspace, bytes);
        this.#arenas.get(row.workspace)?.put(passage, vector);
      }
    });
  }

  /** The passages that answer a question best: by their words, and by their meaning where there is a vector. */
  find({ workspace_id, text, tags, limit, leg }: FindQuery, asked: AskedVector | undefined): Found {
    const workspace = this.#existing(workspace_id);
    if (workspace === undefined) return { passages: [], keyword_hits: 0, vector_hits: 0, pending: 0 };
    const allowed = tags.length === 0 ? undefined : this.#tagged(workspace, tags);
    const keyword = leg === 'vectors' ? [] : this.#byWords(workspace, text, allowed);
    // A question of which it is not sure that the model understands it counts only where words find nothing.
    const isCounted = leg !== 'keyword' && (asked?.isSure === true || keyword.length === 0);
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
    const query = keywordQuery(text);
    if (query === undefined) return [];
    const table = keywordTable(workspace);
    const select = this.#run(
      // `rank` is worked out once for each passage; bm25() in both places would be worked out twice.
      `SELECT rowid AS passage, -rank AS score FROM ${table} WHERE ${table} MATCH ? AND rank MATCH 'bm25(${WEIGHTS})'
       ORDER BY rank LIMIT ?`,
    );
    const rows = select.all(query, allowed === undefined ? PER_LEG : -1) as unknown as Near[];
    return (allowed === undefined ? rows : rows.filter(({ passage }) => allowed.has(passage))).slice(
      0,
      PER_LEG,
    );
  }

  #byMeaning(
    workspace: number,
    { vector, isSure }: AskedVector,
    allowed: ReadonlySet<number> | undefined,
  ): Near[] {
    const least = isSure ? NEAR_ENOUGH : SURELY_NEAR;
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

  #tagged(workspace: number, tags: readonly string[]): Set<number> {
    const marks = tags.map(() => '?').join(', ');
    const select = this.#run(
      `SELECT p.id FROM passages p JOIN (SELECT document FROM tags WHERE tag IN (${marks}) GROUP BY document
       HAVING count(*) = ?) t ON t.document = p.document WHERE p.workspace = ?`,
    );
    const rows = select.all(...tags, tags.length, workspace) as { id: number }[];
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
    const { workspace_id, document_id, version, revision, title, tags, mime_type, body } = document;
    const workspace = this.#workspace(workspace_id);
    const insert = this.#run(
      'INSERT INTO documents (workspace, document, version, revision, title) VALUES (?, ?, ?, ?, ?)',
    );
    const id = insert.run(workspace, document_id, version, revision, title).lastInsertRowid;
    for (const tag of new Set(tags)) this.#run('INSERT INTO tags VALUES (?, ?)').run(tag, id);
    const keep = this.#run(
      'INSERT INTO passages (workspace, document, number, first, past, headings, text) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    const find = this.#run(
      `INSERT INTO ${keywordTable(workspace)} (rowid, words, pairs, bare) VALUES (?, ?, ?, ?)`,
    );
    const parts = passagesOf(body, mime_type);
    // What has a title alone is found by it.
    const passages = parts.length > 0 ? parts : [{ start: 0, end: 0, headings: [] }];
    for (const [number, { start, end, headings }] of passages.entries()) {
      const text = body.slice(start, end);
      const path = JSON.stringify(headings);
      const rowid = keep.run(workspace, id, number, start, end, path, text).lastInsertRowid;
      const { words, pairs, bare } = analyse(withContext(title, headings, text));
      find.run(rowid, words.join(' '), pairs.join(' '), bare.join(' '));
    }
  }

  #drop(workspace_id: string, document_id: string): void {
    const workspace = this.#existing(workspace_id);
    if (workspace === undefined) return;
    const select = this.#run('SELECT id FROM documents WHERE workspace = ? AND document = ?');
    const row = select.get(workspace, document_id) as { id: number } | undefined;
    if (row === undefined) return;
    const passages = this.#run('SELECT id FROM passages WHERE document = ?').all(row.id) as { id: number }[];
    for (const { id } of passages) {
      this.#run(`DELETE FROM ${keywordTable(workspace)} WHERE rowid = ?`).run(id);
      this.#run('DELETE FROM vectors WHERE passage = ?').run(id);
      this.#arenas.get(workspace)?.drop(id);
    }
    for (const table of ['passages', 'tags'])
      this.#run(`DELETE FROM ${table} WHERE document = ?`).run(row.id);
    this.#run('DELETE FROM documents WHERE id = ?').run(row.id);
  }

  #arena(workspace: number): VectorArena {
    const kept = this.#arenas.get(workspace);
    if (kept !== undefined) return kept;
    const arena = new VectorArena();
    const rows = this.#run('SELECT passage, vector FROM vectors WHERE workspace = ?').iterate(workspace);
    for (const { passage, vector } of rows as Iterable<{ passage: number; vector: Uint8Array }>)
      arena.put(passage, toVector(vector));
    this.#arenas.set(workspace, arena);
    return arena;
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
    if (row?.value === MODEL_ID) return;
    this.#transaction(() => {
      this.#db.exec('DELETE FROM vectors; UPDATE passages SET embedded = 0');
      this.#run('INSERT OR REPLACE INTO state VALUES (?, ?)').run('model', MODEL_ID);
    });
  }

  #transaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#db.exec('ROLLBACK');
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

/** Which document is to go. */
export interface Dropped {
  workspace_id: string;
  document_id: string;
}

/** A passage with what stands above it: often it is the title that says what it is about. */
function withContext(title: string, headings: readonly string[], text: string): string {
  const above = headings.filter((heading) => !text.includes(heading));
  return [title, ...above, text].filter((part) => part !== '').join('\n');
}

function toVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer,
  );
}
