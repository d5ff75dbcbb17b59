import { unmarked } from './search-marks.ts';
import { type DatabaseSync, sqliteModule, type StatementSync } from './sqlite.ts';

/** Beyond so many different words a search looks for the first ones alone. */
const MOST_WORDS = 16;

/** What a person looks for, in the words of the index: each once, with the phrases that some of them make. */
export interface Asked {
  words: string[];
  phrases: string[];
  /** There were more words than are looked for. */
  cut: boolean;
}

/** How often each of the words stands in a text. */
export interface Weighed {
  counts: Map<string, number>;
  hasPhrases: boolean;
}

/** A table in memory that takes texts apart as the index does: the one place where it is known what a word is. */
export class AskedWords {
  readonly #db: DatabaseSync = new (sqliteModule().DatabaseSync)(':memory:');
  readonly #add: StatementSync;
  readonly #tokens: StatementSync<{ doc: number; term: string }>;
  readonly #counts: StatementSync<{ doc: number; count: number }>;
  readonly #matches: StatementSync<{ doc: number }>;

  constructor() {
    this.#db.exec(
      `CREATE VIRTUAL TABLE texts USING fts5 (body, content='', tokenize='unicode61 remove_diacritics 2');
       CREATE VIRTUAL TABLE tokens USING fts5vocab (texts, instance)`,
    );
    const prepare = <Row>(sql: string): StatementSync<Row> => this.#db.prepare<Row>(sql);
    this.#add = prepare('INSERT INTO texts (rowid, body) VALUES (?, ?)');
    this.#tokens = prepare<{ doc: number; term: string }>(
      'SELECT doc, term FROM tokens ORDER BY doc, offset',
    );
    this.#counts = prepare<{ doc: number; count: number }>(
      'SELECT doc, count(*) AS count FROM tokens WHERE term = ? GROUP BY doc',
    );
    this.#matches = prepare<{ doc: number }>('SELECT rowid AS doc FROM texts WHERE texts MATCH ?');
  }

  /** The words and "phrases" of a query; what is written together, as in a-b, is a phrase. */
  takeApart(query: string): Asked {
    // What is said again adds nothing, however often.
    const parts = new Set(unmarked(query).match(/"[^"]*"|[^\s"]+/gu));
    return this.#with([...parts], () => {
      const tokensByPart = new Map<number, string[]>();
      for (const { doc, term } of this.#tokens.all()) {
        const tokens = tokensByPart.get(doc);
        if (tokens === undefined) tokensByPart.set(doc, [term]);
        else tokens.push(term);
      }
      const words = new Set<string>();
      const phrases = new Set<string>();
      let cut = false;
      for (const tokens of tokensByPart.values()) {
        for (const token of tokens) if (words.size < MOST_WORDS) words.add(token);
        const whole = tokens.every((token) => words.has(token)) && tokens.length <= MOST_WORDS;
        if (!whole) cut = true;
        else if (tokens.length > 1) phrases.add(tokens.join(' '));
      }
      return { words: [...words], phrases: [...phrases], cut };
    });
  }

  /** Counts the words in some texts. */
  weigh(texts: readonly string[], { words, phrases }: Asked): Weighed[] {
    return this.#with(texts, () => {
      const weighed = texts.map((): Weighed => ({ counts: new Map(), hasPhrases: phrases.length === 0 }));
      for (const word of words)
        for (const { doc, count } of this.#counts.all(word)) weighed[doc]?.counts.set(word, count);
      if (phrases.length === 0) return weighed;
      for (const { doc } of this.#matches.all(phrases.map(quoted).join(' AND '))) {
        const one = weighed[doc];
        if (one !== undefined) one.hasPhrases = true;
      }
      return weighed;
    });
  }

  close(): void {
    this.#db.close();
  }

  #with<T>(texts: readonly string[], work: () => T): T {
    this.#db.exec('BEGIN');
    try {
      for (const [i, text] of texts.entries()) this.#add.run(BigInt(i), text);
      return work();
    } finally {
      this.#db.exec('ROLLBACK');
    }
  }
}

/** A word or phrase as FTS5 reads it, in which nothing is an operator. */
export function quoted(text: string): string {
  return `"${text}"`;
}
