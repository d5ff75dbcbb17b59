import type { DatabaseSync } from '@parley/sqlite';

import { analyse } from './analyse.ts';
import type { Sentence } from './index-words.ts';
import { keywordQuery } from './keyword-query.ts';
import { createSentenceTable } from './open-index.ts';

const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });
const MOST_SENTENCES = 400;

/** Finds the sentences that answer a question, with the same words and weights that found the passages. */
export class SentenceFinder {
  readonly #db: DatabaseSync;
  #isReady = false;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** The best sentences, the best first; of equal ones the one from the better passage. */
  best(question: string, passages: readonly string[], count: number): Sentence[] {
    const query = keywordQuery(question);
    if (query === undefined) return [];
    if (!this.#isReady) createSentenceTable(this.#db);
    this.#isReady = true;
    const sentences = passages.flatMap((text, of) => sentencesOf(text, of)).slice(0, MOST_SENTENCES);
    this.#db.exec('BEGIN; DELETE FROM temp.sentences');
    try {
      const insert = this.#db.prepare(
        'INSERT INTO temp.sentences (rowid, words, pairs, bare) VALUES (?, ?, ?, ?)',
      );
      for (const [i, { of, start, end }] of sentences.entries()) {
        const { words, pairs, bare } = analyse(passages[of]?.slice(start, end) ?? '');
        insert.run(i + 1, words.join(' '), pairs.join(' '), bare.join(' '));
      }
      const select = this.#db.prepare<{ id: number; score: number }>(
        'SELECT rowid AS id, rank AS score FROM temp.sentences WHERE sentences MATCH ?',
      );
      const rows = select.all(query);
      return rows
        .map(({ id, score }) => ({
          sentence: sentences[id - 1],
          score: -score * standing(sentences[id - 1]),
        }))
        .toSorted((a, b) => b.score - a.score)
        .slice(0, count)
        .flatMap(({ sentence }) => sentence ?? []);
    } finally {
      this.#db.exec('ROLLBACK');
    }
  }
}

/** The better passage has the better word. */
function standing(sentence: Sentence | undefined): number {
  return 1 / (1 + 0.25 * (sentence?.of ?? 0));
}

/** What stands before a sentence in Markdown and is no part of it: the mark of an item or of a quotation. */
const MARK = /^\s*(?:(?:[-*+]|\d{1,9}[.)]|>)\s+)*/;

/** A heading says what follows is about, and a row of a table is none without its head: neither answers by itself. */
const NO_SENTENCE = /^(?:#{1,6}\s|\||`{3}|-{3})/;

function sentencesOf(text: string, of: number): Sentence[] {
  return [...segmenter.segment(text)].flatMap(({ segment, index }) => {
    const start = index + (MARK.exec(segment)?.[0].length ?? 0);
    const end = index + segment.trimEnd().length;
    return end > start && !NO_SENTENCE.test(text.slice(start, end)) ? [{ of, start, end }] : [];
  });
}
