import { createHash } from 'node:crypto';

import { entriesOf } from '@parley/protocol';
import { type DatabaseSync, sqliteModule } from '@parley/sqlite';

import { analyse, type Words } from './analyse.ts';
import { tellingWords } from './fit.ts';
import { askedTerms, type AskedTerms } from './keyword-query.ts';
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
type Column = keyof Words;
/**
 * What a question with marks is held against, and what one without: how often a word stands in both columns of a way
 * makes one number, as in SQLite. A number for each column would count twice what a text says once.
 */
const WAYS: Record<Way, Partial<Record<Column, number>>> = {
  marked: { words: 1, pairs: 0.5 },
  bare: { words: 1, bare: 1 },
};
type Way = 'marked' | 'bare';

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
      const weighed = new Map<number, number>();
      for (const { term, column, count } of terms)
        for (const [way, weights] of entriesOf(WAYS)) {
          const weight = weights[column];
          if (weight === undefined) continue;
          const index = indexOf(workspace_id, way, term);
          weighed.set(index, (weighed.get(index) ?? 0) + count * weight);
        }
      const values = [...weighed.values()].map((count) => (count * (K1 + 1)) / (count + much));
      return { indices: [...weighed.keys(), everyTextOf(workspace_id)], values: [...values, 1] };
    });
  }

  /** The words that a question asks for; undefined: it has none. */
  question(workspace_id: string, text: string): SparseVector | undefined {
    const asked = askedTerms(text);
    if (asked === undefined) return undefined;
    const [terms = []] = this.#rows([{ words: asked.terms, pairs: [], bare: [] }]);
    const indices = new Set(terms.map(({ term }) => indexOf(workspace_id, wayOf(asked), term)));
    return { indices: [...indices], values: [...indices].map(() => 1) };
  }

  /** The same of the words that tell what a question is about. */
  telling(workspace_id: string, text: string): Set<number>[] {
    const asked = askedTerms(text);
    if (asked === undefined) return [];
    const words = tellingWords(asked.terms).map((word) => ({ words: [word], pairs: [], bare: [] }));
    return this.#rows(words).map(
      (terms) => new Set(terms.map(({ term }) => indexOf(workspace_id, wayOf(asked), term))),
    );
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
      const select = this.#db.prepare<{ doc: number; term: string; column: Column; count: number }>(
        'SELECT doc, col AS column, term, count(*) AS count FROM told GROUP BY doc, col, term',
      );
      const found = select.all();
      const rows: (typeof found)[] = texts.map(() => []);
      for (const one of found) rows[one.doc]?.push(one);
      return rows;
    } finally {
      this.#db.exec('ROLLBACK');
    }
  }
}

/** The number that every text of a workspace has, once: how rare it is says how large the workspace is among all. */
export function everyTextOf(workspace_id: string): number {
  return numberOf(`${workspace_id}\n`);
}

function wayOf({ columns }: AskedTerms): Way {
  return columns.includes('bare') ? 'bare' : 'marked';
}

/** The number of a word: each workspace has its own, so that how rare words are elsewhere counts for nothing. */
function indexOf(workspace_id: string, way: Way, term: string): number {
  return numberOf(`${workspace_id}\n${way}\n${term}`);
}

function numberOf(name: string): number {
  return createHash('sha1').update(name).digest().readUInt32LE(0);
}
