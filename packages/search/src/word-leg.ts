import { type StatementSync, oneRow } from '@parley/sqlite';

import { PER_LEG } from './fuse.ts';
import { chanceOf, rarity, tellingWords } from './fit.ts';
import { askedTerms, expressionOf, rarest } from './keyword-query.ts';
import { keywordTable } from './keyword-table.ts';
import type { Near } from './vectors.ts';

/** Words that stand in so many passages cost the most and tell the least: a large index asks for the rarer ones alone. */
const MOST_MATCHES = 15_000;
/** How long a count is good: within it the index grows by little. */
const COUNT_MS = 600_000;
const MOST_COUNTS = 20_000;
/** A word in its place, a pair of neighbours, a word without its marks. */
const WEIGHTS = '1.0, 0.5, 1.0';

interface Coverage {
  of(passage: number): number;
  chance: number;
}

/** Finds passages by their words, in the tables of the embedded index. */
export class WordLeg {
  readonly #run: <Row>(sql: string) => StatementSync<Row>;
  readonly #counts = new Map<string, { count: number; until: number }>();

  constructor(run: <Row>(sql: string) => StatementSync<Row>) {
    this.#run = run;
  }

  /** The passages that have the words of a question, the best first. */
  find(workspace: number, text: string, allowed: ReadonlySet<number> | undefined): Near[] {
    const asked = askedTerms(text);
    if (asked === undefined) return [];
    const telling = this.#isLarge()
      ? rarest(asked, MOST_MATCHES, (one) => this.#matches(workspace, one))
      : asked;
    if (telling.terms.length === 0) return [];
    const query = expressionOf(telling);
    const table = keywordTable(workspace);
    const select = this.#run<Near>(
      // `rank` is worked out once for each passage; bm25() in both places would be worked out twice.
      `SELECT rowid AS passage, -rank AS score FROM ${table} WHERE ${table} MATCH ? AND rank MATCH 'bm25(${WEIGHTS})'
       AND rowid >= ? ORDER BY rank LIMIT ?`,
    );
    const from = this.#newest(table, query);
    if (allowed === undefined) return select.all(query, from, PER_LEG);
    const found: Near[] = [];
    for (const row of select.iterate(query, from, -1)) {
      if (allowed.has(row.passage)) found.push(row);
      if (found.length === PER_LEG) break;
    }
    return found;
  }

  /** How much of what a question's words tell each of some passages has, and how much one has by chance; 0 to 1. */
  coverage(workspace: number, text: string, passages: readonly number[]): Coverage {
    const asked = askedTerms(text);
    const has = new Map<number, number>();
    let whole = 0;
    let chance = 0;
    const table = keywordTable(workspace);
    const all = this.count(workspace);
    const select = this.#run<{ passage: number }>(
      `SELECT rowid AS passage FROM ${table} WHERE ${table} MATCH ? AND rowid IN (SELECT value FROM json_each(?))`,
    );
    for (const term of tellingWords(asked?.terms ?? [])) {
      const expression = expressionOf({ columns: asked?.columns ?? [], terms: [term] });
      const count = this.#matches(workspace, expression);
      const tells = rarity(count, all);
      whole += tells;
      chance += tells * chanceOf(count, all);
      for (const { passage } of select.all(expression, JSON.stringify(passages)))
        has.set(passage, (has.get(passage) ?? 0) + tells);
    }
    const share = (of: number): number => (whole === 0 ? 0 : of / whole);
    return { of: (passage) => share(has.get(passage) ?? 0), chance: share(chance) };
  }

  /** Of how many passages the words are there. */
  count(workspace: number): number {
    const select = this.#run<{ n: number }>(`SELECT count(*) AS n FROM ${keywordTable(workspace)}_docsize`);
    return oneRow(select.get()).n;
  }

  /** Where even the rarest word stands in very many passages, the newest of them are ranked: from this one on. */
  #newest(table: string, query: string): bigint {
    if (!this.#isLarge()) return 0n;
    const select = this.#run<{ first: number }>(
      `SELECT rowid AS first FROM ${table} WHERE ${table} MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?`,
    );
    const { first } = select.get(query, MOST_MATCHES) ?? { first: 0 };
    return BigInt(first);
  }

  #isLarge(): boolean {
    const { most } = oneRow(this.#run<{ most: number | null }>('SELECT max(id) AS most FROM passages').get());
    return (most ?? 0) > MOST_MATCHES;
  }

  /** In how many passages an expression is true, up to where it makes no more difference. */
  #matches(workspace: number, expression: string): number {
    const table = keywordTable(workspace);
    const key = `${table} ${expression}`;
    const kept = this.#counts.get(key);
    if (kept !== undefined && kept.until > performance.now()) return kept.count;
    const select = this.#run<{ count: number }>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ?)`,
    );
    const { count } = oneRow(select.get(expression, 2 * MOST_MATCHES));
    if (this.#counts.size >= MOST_COUNTS) this.#counts.clear();
    // What is rare costs little to count, and may be written at any time.
    if (count > MOST_MATCHES / 100) this.#counts.set(key, { count, until: performance.now() + COUNT_MS });
    return count;
  }
}
