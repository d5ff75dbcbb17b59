import { type DatabaseSync, type StatementSync, oneRow } from '@parley/sqlite';

import { analyse } from './analyse.ts';
import { fitOf } from './fit.ts';
import { fuse, leastNear, meaningCounts, PER_LEG } from './fuse.ts';
import type {
  Dropped,
  EmbeddedPassage,
  Found,
  FindQuery,
  FoundPassage,
  Index,
  IndexedDocument,
  KnownDocument,
  ModelName,
  Place,
  Renumbered,
  WaitingPassage,
} from './index-words.ts';
import type { AskedVector } from './index-words.ts';
import { countIndex, type IndexTally, knowsWords, readTally, sumOfDocument } from './index-tally.ts';
import { keywordTable } from './keyword-table.ts';
import type { IndexForm } from './index-form.ts';
import { createKeywordTable, IndexDamaged } from './open-index.ts';
import { forModel, windowsOf, withContext, wholePassagesOf } from './passages.ts';
import type { Ruler } from './ruler.ts';
import { cosine, type Near, VectorArena } from './vectors.ts';
import { WordLeg } from './word-leg.ts';

/** How many of the nearest are compared again with full numbers; a passage may be among them by several of its parts. */
const RESCORED = 300;

/** The embedded index, a file; it lives in a thread of its own. */
export class PassageIndex implements Index {
  readonly #db: DatabaseSync;
  readonly #model: ModelName;
  readonly #statements = new Map<string, StatementSync<unknown>>();
  readonly #arenas = new Map<number, VectorArena>();
  /** How many passages each workspace has; counted with the first question. */
  readonly #passages = new Map<number, number>();
  readonly #words: WordLeg;
  readonly #ruler: Ruler;
  readonly #form: IndexForm;
  #tally: IndexTally;

  constructor(db: DatabaseSync, model: ModelName, ruler: Ruler, form: IndexForm) {
    this.#db = db;
    this.#model = model;
    this.#words = new WordLeg((sql) => this.#run(sql));
    this.#ruler = ruler;
    this.#form = form;
    this.#tally = readTally(db) ?? countIndex(db);
    this.#checkModel();
  }

  /** What was taken apart in another way has no place: all is held against it, and found as it is until it is put anew. */
  place(workspace_id: string): number | undefined {
    const [form, pos] = this.#state(`place ${workspace_id}`)?.split(' ') ?? [];
    return form === this.#form.id ? Number(pos) : undefined;
  }

  apply(puts: readonly IndexedDocument[], drops: readonly Dropped[], place: Place | undefined): void {
    this.#transaction(() => {
      for (const { workspace_id, document_id } of drops) this.#drop(workspace_id, document_id);
      for (const document of puts)
        this.#put(document, this.#drop(document.workspace_id, document.document_id));
      if (place !== undefined) this.#keep(`place ${place.workspace_id}`, `${this.#form.id} ${place.pos}`);
    });
  }

  dropBefore(workspace_id: string, revision: number): void {
    const workspace = this.#existing(workspace_id) ?? 0;
    const select = this.#run<{ document_id: string }>(
      'SELECT document AS document_id FROM documents WHERE workspace = ? AND revision < ? ORDER BY id LIMIT 1000',
    );
    for (;;) {
      const old = select.all(workspace, revision);
      if (old.length === 0) return;
      this.apply(
        [],
        old.map(({ document_id }) => ({ workspace_id, document_id })),
        undefined,
      );
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
    const rows = this.#run<{ name: string }>('SELECT name FROM workspaces').all();
    return rows.map(({ name }) => name);
  }

  known(workspace_id: string): KnownDocument[] {
    const workspace = this.#existing(workspace_id);
    if (workspace === undefined) return [];
    const select = this.#run<{ document_id: string; version: string }>(
      'SELECT document AS document_id, version FROM documents WHERE workspace = ?',
    );
    const rows = select.all(workspace);
    return rows.map(({ document_id, version }) => ({ document_id, version: this.#form.open(version) }));
  }

  renumber(documents: readonly Renumbered[]): string[] {
    const missing: string[] = [];
    const update = this.#run(
      'UPDATE documents SET version = ?, revision = ? WHERE workspace = ? AND document = ? AND version = ?',
    );
    this.#transaction(() => {
      for (const { workspace_id, document_id, revision, ...versions } of documents) {
        const [was, version] = [this.#form.seal(versions.was), this.#form.seal(versions.version)];
        const workspace = this.#existing(workspace_id) ?? 0;
        if (update.run(version, revision, workspace, document_id, was).changes === 0) {
          missing.push(document_id);
          continue;
        }
        this.#count(-1, workspace, document_id, was);
        this.#count(1, workspace, document_id, version);
      }
    });
    return missing;
  }

  waiting(limit: number): WaitingPassage[] {
    const select = this.#run<{ passage: number; title: string; headings: string; text: string }>(
      `SELECT p.id AS passage, d.title, p.headings, p.text FROM passages p JOIN documents d ON d.id = p.document
       WHERE p.embedded = 0 ORDER BY p.id LIMIT ?`,
    );
    const rows = select.all(limit);
    return rows.map(({ passage, title, headings, text }) => ({
      passage,
      texts: windowsOf(title, readHeadings(headings), text, this.#ruler),
    }));
  }

  embed(made: readonly EmbeddedPassage[]): void {
    this.#transaction(() => {
      for (const { passage, vectors } of made) {
        const mark = this.#run<{ workspace: number }>(
          'UPDATE passages SET embedded = 1 WHERE id = ? RETURNING workspace',
        );
        const row = mark.get(passage);
        if (row === undefined || vectors.length === 0) continue;
        this.#tally.vectors -= this.#run('DELETE FROM vectors WHERE passage = ?').run(passage).changes;
        this.#keepVectors(Number(passage), row.workspace, toBytes(vectors));
      }
    });
  }

  #keepVectors(passage: number, workspace: number, bytes: Uint8Array): void {
    this.#run('INSERT INTO vectors VALUES (?, ?, ?)').run(passage, workspace, bytes);
    this.#run('UPDATE passages SET embedded = 1 WHERE id = ?').run(passage);
    this.#tally.vectors++;
    this.#arenas.get(workspace)?.put(passage, this.#vectorsIn(bytes));
  }

  /** The vectors of a passage stand one behind the other. */
  #vectorsIn(bytes: Uint8Array): Float32Array[] {
    const all = new Float32Array(Uint8Array.from(bytes).buffer);
    const { dimensions } = this.#model;
    return Array.from({ length: all.length / dimensions }, (_, i) =>
      all.subarray(i * dimensions, (i + 1) * dimensions),
    );
  }

  find({ workspace_id, text, tags, groups, limit, leg }: FindQuery, asked: AskedVector | undefined): Found {
    const workspace = this.#existing(workspace_id);
    if (workspace === undefined) return { passages: [], keyword_hits: 0, vector_hits: 0, pending: 0 };
    const allowed = this.#allowed(workspace, tags, groups);
    const keyword = leg === 'vectors' ? [] : this.#words.find(workspace, text, allowed);
    this.#checkWords(workspace, keyword.length > 0);
    const isCounted = leg !== 'keyword' && meaningCounts(asked, keyword);
    const near = asked === undefined || !isCounted ? [] : this.#byMeaning(workspace, asked, allowed);
    const passages = fuse([keyword, near]).slice(0, limit);
    const covered = this.#words.coverage(
      workspace,
      text,
      passages.map(({ passage }) => passage),
    );
    const cosines = new Map(near.map(({ passage, score }) => [passage, score]));
    const fit = (passage: number): number =>
      fitOf(covered.of(passage), covered.chance, near.length === 0 ? undefined : (cosines.get(passage) ?? 0));
    const waiting = this.#run<{ n: number }>(
      'SELECT count(*) AS n FROM passages WHERE workspace = ? AND embedded = 0',
    );
    const { n: pending } = oneRow(waiting.get(workspace));
    return {
      passages: passages.flatMap((one) => this.#passage(one, fit(one.passage))),
      keyword_hits: keyword.length,
      vector_hits: near.length,
      pending,
    };
  }

  /** FTS5 takes words that it has lost for words that nobody wrote: what it lacks must not be taken for nothing found. */
  #checkWords(workspace: number, hasFound: boolean): void {
    const there = this.#words.count(workspace);
    const written = this.#passagesIn(workspace);
    if (there !== written)
      throw new IndexDamaged(`the words of ${there} passages are there, ${written} were written`);
    if (!hasFound && !knowsWords(this.#db, workspace))
      throw new IndexDamaged('passages are not found by their words');
  }

  #passagesIn(workspace: number): number {
    let count = this.#passages.get(workspace);
    if (count === undefined) {
      const select = this.#run<{ n: number }>(
        'SELECT count(*) AS n FROM passages WHERE document IN (SELECT id FROM documents WHERE workspace = ?)',
      );
      count = oneRow(select.get(workspace)).n;
      this.#passages.set(workspace, count);
    }
    return count;
  }

  #countPassage(one: 1 | -1, workspace: number): void {
    this.#tally.passages += one;
    const count = this.#passages.get(workspace);
    if (count !== undefined) this.#passages.set(workspace, count + one);
  }

  #count(one: 1 | -1, workspace: number, document: string, version: string): void {
    this.#tally.documents += one;
    this.#tally.sums = (this.#tally.sums ^ sumOfDocument(workspace, document, version)) >>> 0;
  }

  #byMeaning(workspace: number, asked: AskedVector, allowed: ReadonlySet<number> | undefined): Near[] {
    const { vector } = asked;
    const least = leastNear(asked);
    const full = this.#run<{ vector: Uint8Array }>('SELECT vector FROM vectors WHERE passage = ?');
    const near = this.#arena(workspace).nearest(vector, RESCORED, allowed);
    return [...new Set(near.map(({ passage }) => passage))]
      .flatMap((passage) => {
        const row = full.get(passage);
        if (row === undefined) return [];
        const scores = this.#vectorsIn(row.vector).map((one) => cosine(vector, one));
        return [{ passage, score: Math.max(...scores) }];
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
    const select = this.#run<{ id: number }>(
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
    });
    return new Set(rows.map(({ id }) => id));
  }

  #passage({ passage, score }: Near, fit: number): FoundPassage[] {
    const select = this.#run<Omit<FoundPassage, 'headings' | 'score' | 'fit'> & { headings: string }>(
      `SELECT d.document AS document_id, d.revision, d.title, p.number AS passage, p.first AS start, p.past AS end,
       p.headings, p.text FROM passages p JOIN documents d ON d.id = p.document WHERE p.id = ?`,
    );
    const row = select.get(passage);
    return row === undefined ? [] : [{ ...row, headings: readHeadings(row.headings), score, fit }];
  }

  /** What of it reads as it did before keeps its vectors. */
  #put(document: IndexedDocument, vectors: ReadonlyMap<string, Uint8Array>): void {
    const { workspace_id, document_id, revision, title, tags, group = '' } = document;
    const version = this.#form.seal(document.version);
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
      this.#countPassage(1, workspace);
      const { words, pairs, bare } = analyse(withContext(title, headings, text));
      find.run(rowid, words.join(' '), pairs.join(' '), bare.join(' '));
      const had = vectors.get(forModel(title, headings, text));
      // Of another form there may be fewer than it has parts now.
      const parts = had === undefined ? [] : windowsOf(title, headings, text, this.#ruler);
      if (had !== undefined && had.length === parts.length * this.#model.dimensions * 4)
        this.#keepVectors(Number(rowid), workspace, had);
    }
  }

  /** Returns the vectors it had, by what they were made of. */
  #drop(workspace_id: string, document_id: string): Map<string, Uint8Array> {
    const had = new Map<string, Uint8Array>();
    const workspace = this.#existing(workspace_id);
    if (workspace === undefined) return had;
    const select = this.#run<{ id: number; version: string; title: string }>(
      'SELECT id, version, title FROM documents WHERE workspace = ? AND document = ?',
    );
    const row = select.get(workspace, document_id);
    if (row === undefined) return had;
    this.#count(-1, workspace, document_id, row.version);
    const passages = this.#run<{ id: number; headings: string; text: string; vector: Uint8Array | null }>(
      'SELECT p.id, p.headings, p.text, v.vector FROM passages p LEFT JOIN vectors v ON v.passage = p.id WHERE p.document = ?',
    ).all(row.id);
    for (const { id, headings, text, vector } of passages) {
      if (vector !== null) had.set(forModel(row.title, readHeadings(headings), text), vector);
      this.#run(`DELETE FROM ${keywordTable(workspace)} WHERE rowid = ?`).run(id);
      this.#countPassage(-1, workspace);
      this.#tally.vectors -= this.#run('DELETE FROM vectors WHERE passage = ?').run(id).changes;
      this.#arenas.get(workspace)?.drop(id);
    }
    for (const table of ['passages', 'tags'])
      this.#run(`DELETE FROM ${table} WHERE document = ?`).run(row.id);
    this.#run('DELETE FROM documents WHERE id = ?').run(row.id);
    return had;
  }

  #arena(workspace: number): VectorArena {
    const kept = this.#arenas.get(workspace);
    if (kept !== undefined) return kept;
    const arena = new VectorArena(this.#model.dimensions);
    const rows = this.#run<{ passage: number; vector: Uint8Array }>(
      'SELECT passage, vector FROM vectors WHERE workspace = ?',
    ).iterate(workspace);
    for (const { passage, vector } of rows) arena.put(passage, this.#vectorsIn(vector));
    this.#arenas.set(workspace, arena);
    return arena;
  }

  close(): void {
    this.#db.close();
  }

  #existing(name: string): number | undefined {
    const select = this.#run<{ id: number }>('SELECT id FROM workspaces WHERE name = ?');
    return select.get(name)?.id;
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
    if (this.#state('model') === this.#model.id) return;
    this.#transaction(() => {
      this.#db.exec('DELETE FROM vectors; UPDATE passages SET embedded = 0');
      this.#tally.vectors = 0;
      this.#keep('model', this.#model.id);
    });
  }

  #state(name: string): string | undefined {
    const row = this.#run<{ value: string }>('SELECT value FROM state WHERE name = ?').get(name);
    return row?.value;
  }

  #keep(name: string, value: string): void {
    this.#run('INSERT OR REPLACE INTO state VALUES (?, ?)').run(name, value);
  }

  #transaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#keep('tally', JSON.stringify(this.#tally));
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#db.exec('ROLLBACK');
      this.#tally = readTally(this.#db) ?? countIndex(this.#db);
      // What the transaction took out of the arenas is back in the table.
      this.#arenas.clear();
      this.#passages.clear();
      throw error;
    }
  }

  #run<Row>(sql: string): StatementSync<Row> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    // The same text has the same columns.
    return statement as StatementSync<Row>;
  }
}

function readHeadings(json: string): string[] {
  // The index wrote them itself.
  return JSON.parse(json) as string[];
}

function toBytes(vectors: readonly Float32Array[]): Uint8Array {
  return Buffer.concat(vectors.map((one) => new Uint8Array(one.buffer, one.byteOffset, one.byteLength)));
}
