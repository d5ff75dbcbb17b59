import { createHash } from 'node:crypto';

import { type DatabaseSync, sqliteModule } from '@parley/sqlite';

import { analyse } from './analyse.ts';
import { askedTerms } from './keyword-query.ts';
import { createTermTables } from './open-index.ts';

/** Words as numbers, for an index that keeps them as a sparse vector. */
export interface SparseVector {
  indices: number[];
  values: number[];
}

/** As in SQLite's bm25(): how soon a word that is repeated says nothing new, and how much length counts against a text. */
const K1 = 1.2;
const B = 0.75;
/** What a usual passage has in words; an index that grows cannot know its own mean beforehand. */
const USUAL_LENGTH = 180;
/** A word in its place, a pair of neighbours, a word without its marks. */
const WEIGHT = { words: 1, pairs: 0.5, bare: 1 } as const;
type Column = keyof typeof WEIGHT;

/** Counts words with SQLite's own tokenizer, so that both kinds of index know the same words. */
export class TermCounter {
  readonly #db: DatabaseSync = new (sqliteModule().DatabaseSync)(':memory:');

  constructor() {
    createTermTables(this.#db);
  }

  /** What each text says, as a part of what BM25 counts; how rare a word is comes from the index. */
  texts(workspace_id: string, texts: readonly string[]): SparseVector[] {
    const rows = this.#rows(texts.map((text) => analyse(text)));
    return rows.map((terms) => {
      // The other columns say the same words again: only a text's own words make it long.
      const length = terms.reduce((sum, { column, count }) => sum + (column === 'words' ? count : 0), 0);
      const much = K1 * (1 - B + (B * length) / USUAL_LENGTH);
      const values = new Map<number, number>();
      for (const { term, column, count } of terms) {
        const index = indexOf(workspace_id, column, term);
        const weighed = count * WEIGHT[column];
        values.set(index, (values.get(index) ?? 0) + (weighed * (K1 + 1)) / (weighed + much));
      }
      return { indices: [...values.keys()], values: [...values.values()] };
    });
  }

  /** The words that a question asks for; undefined: it has none. */
  question(workspace_id: string, text: string): SparseVector | undefined {
    const asked = askedTerms(text);
    if (asked === undefined) return undefined;
    const [terms = []] = this.#rows([{ words: asked.terms, pairs: [], bare: [] }]);
    const indices = terms.flatMap(({ term }) =>
      asked.columns.map((column) => indexOf(workspace_id, column, term)),
    );
    return { indices: [...new Set(indices)], values: [...new Set(indices)].map(() => 1) };
  }

  close(): void {
    this.#db.close();
  }

  #rows(texts: readonly Record<Column, string[]>[]): { term: string; column: Column; count: number }[][] {
    this.#db.exec('BEGIN');
    try {
      const insert = this.#db.prepare('INSERT INTO terms (rowid, words, pairs, bare) VALUES (?, ?, ?, ?)');
      for (const [i, { words, pairs, bare }] of texts.entries())
        insert.run(i, words.join(' '), pairs.join(' '), bare.join(' '));
      const select = this.#db.prepare(
        'SELECT doc, col AS column, term, count(*) AS count FROM told GROUP BY doc, col, term',
      );
      const found = select.all() as { doc: number; term: string; column: Column; count: number }[];
      const rows: (typeof found)[] = texts.map(() => []);
      for (const one of found) rows[one.doc]?.push(one);
      return rows;
    } finally {
      this.#db.exec('ROLLBACK');
    }
  }
}

/** The number of a word: each workspace has its own, so that how rare words are elsewhere counts for nothing. */
function indexOf(workspace_id: string, column: Column, term: string): number {
  return createHash('sha1').update(`${workspace_id}\n${column}\n${term}`).digest().readUInt32LE(0);
}
