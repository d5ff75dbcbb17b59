import { type SearchQuery, type SearchResult, readEntry } from '@parley/core';
import { LIMITS, ParleyError } from '@parley/protocol';

import { type Asked, AskedWords, quoted } from './asked-words.ts';
import { LINKED, OPEN_TO } from './linked-row.ts';
import { number } from './number.ts';
import { isOfIndex } from './check-integrity.ts';
import { type Candidate, rank } from './rank-messages.ts';
import { checkedEntry, damagedIndex, type LinkedRow } from '@parley/store-rows';
import { followerPosition } from './search-index.ts';
import { mark, rowsOf } from './search-marks.ts';
import { snippet } from '@parley/store-rows';
import { type DatabaseSync, type StatementSync, oneRow } from './sqlite.ts';

/** How many messages that have all the words are compared: the newest. */
const CANDIDATES = 128;
/** How many rows of all the words together are counted: one that has fewer than its share is rare. */
const COUNTED = 400;
const LEAST_COUNTED = 60;
/** The threads of a caller who takes part in more are not named to the index. */
const THREADS = 64;
/** How many blocks of the index are looked through at once, and at all. */
const BLOCKS = 32;
const MOST_BLOCKS = 512;
/** After this time no further blocks are looked through. */
const PATIENCE_MS = 5;
/** How much text is compared. */
const WEIGHED_BYTES = 65_536;
/** How many matches are looked at for those that the caller may read, where the index does not know them. */
const SIFTED = 600;

interface Counted {
  rows: number;
  /** The position of the oldest row that was counted. */
  oldest: number | null;
}

type Found = Candidate & { row: LinkedRow };

/** What a search has come to. */
interface Search {
  query: SearchQuery;
  asked: Asked;
  workspace: number;
  /** How many rows make a word common. */
  common: number;
  found: Found[];
  /** How many messages were read, and how much text they have. */
  read: number;
  bytes: number;
  /** Not every message with the words was looked at. */
  cut: boolean;
}

/**
 * Finds messages by their words, in a thread of its own and at the same cost however long the log is. FTS5 walks the
 * rows of all words side by side until they meet, be it to the end of the log: so each walk is led by something that
 * has few rows, which is a rare word, the threads of the caller, or the newest blocks of the workspace.
 */
export class WordSearch {
  readonly #db: DatabaseSync;
  readonly #sql: ReturnType<typeof prepareStatements>;
  readonly #words = new AskedWords();

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#sql = prepareStatements(db);
  }

  /** How far the log has come, and whether the index has all of it. */
  place(): { head: number; isIndexed: boolean } {
    const head = number(this.#db, 'SELECT max(pos) FROM entries');
    return { head, isIndexed: this.isIndexed(head) };
  }

  isIndexed(until: number): boolean {
    return (followerPosition(this.#db) ?? -1) >= until;
  }

  /** Searches; whoever asks has no claim to what was written after position `until`. */
  search(query: SearchQuery, until = this.place().head): SearchResult {
    try {
      return this.#search(query, until);
    } catch (error) {
      if (error instanceof ParleyError || !isOfIndex(error)) throw error;
      throw damagedIndex();
    }
  }

  readable({ workspace_id, participant }: { workspace_id: string; participant: string }): string[] {
    const rows = this.#sql.readable.all({ workspace: workspace_id, participant });
    return rows.map(({ thread_id }) => thread_id);
  }

  #search(query: SearchQuery, head: number): SearchResult {
    if (!this.#isCounted()) throw damagedIndex();
    const asked = this.#words.takeApart(query.text);
    const lacks: SearchResult['lacks'] = [];
    if (!this.isIndexed(head)) lacks.push('changes');
    if (asked.cut) lacks.push('words');
    const space = this.#sql.workspace.get(query.workspace_id);
    if (asked.words.length === 0 || space === undefined) return { hits: [], lacks };
    const common = Math.max(LEAST_COUNTED, Math.floor(COUNTED / asked.words.length));
    const search: Search = {
      query,
      asked,
      workspace: space.id,
      common,
      found: [],
      read: 0,
      bytes: 0,
      cut: false,
    };
    const counted = new Map(asked.words.map((word) => [word, this.#count(search, quoted(word))]));
    if ([...counted.values()].some(({ rows }) => rows === 0)) return { hits: [], lacks };
    this.#find(search, [...counted.values()]);
    const rarity = new Map([...counted].map(([word, one]) => [word, rarityOf(one, common, head)]));
    const hits = this.#serve(search, rank(search.found, rarity));
    return { hits, lacks: search.cut ? [...lacks, 'older_matches'] : lacks };
  }

  /** False where FTS5 knows another number of messages than were put into it: it takes a lost index for an empty one. */
  #isCounted(): boolean {
    const { totals, rows } = oneRow(this.#sql.totals.get());
    return firstVarint(totals ?? new Uint8Array()) === (rows ?? 0);
  }

  #find(search: Search, counted: readonly Counted[]): void {
    const { asked, workspace, common } = search;
    const words = asked.words.map(quoted);
    if (counted.some(({ rows }) => rows < common))
      return this.#take(search, [quoted(mark.workspace(workspace)), ...words], common);
    const threads = this.#threads(search.query);
    if (threads === undefined) return this.#findInBlocks(search, words, counted);
    const there = this.#count(search, threads);
    if (there.rows < common) this.#take(search, [threads, ...words], common);
    else this.#findInBlocks(search, [threads, ...words], [...counted, there]);
  }

  /** From the newest blocks on, as many at once as the rarest term needs for its share, until there is enough. */
  #findInBlocks(search: Search, terms: readonly string[], counted: readonly Counted[]): void {
    const rows = this.#sql.blocks.all(search.workspace, MOST_BLOCKS);
    const oldest = Math.min(...counted.map((one) => one.oldest ?? 0));
    const atOnce = Math.min(BLOCKS, rows.filter(({ first }) => first > oldest).length + 1);
    const until = performance.now() + PATIENCE_MS;
    for (let at = 0; at < rows.length && !search.cut; at += atOnce) {
      if (at > 0 && performance.now() > until) search.cut = true;
      const blocks = rows.slice(at, at + atOnce).map(({ id }) => quoted(mark.block(id)));
      if (!search.cut) this.#take(search, [anyOf(blocks), ...terms], SIFTED);
    }
    if (rows.length === MOST_BLOCKS) search.cut = true;
  }

  /** Reads the newest messages of which all terms are true, if the caller may; the index is believed in nothing. */
  #take(search: Search, terms: readonly string[], limit: number): void {
    const { query, asked, workspace } = search;
    const asking = { base: rowsOf(workspace).first, match: terms.join(' AND '), limit };
    const positions = this.#sql.match.all(asking).map(({ pos }) => pos);
    if (positions.length === limit) search.cut = true;
    const rows = this.#sql.rows.iterate({
      positions: JSON.stringify(positions),
      workspace: query.workspace_id,
      participant: query.participant ?? null,
      thread: query.thread_id ?? null,
    });
    const taken: { row: LinkedRow; body: string | undefined }[] = [];
    for (const row of rows) {
      // What can no longer be weighed is taken as it comes, as far as the answer has room for it.
      const isFull = search.bytes >= WEIGHED_BYTES;
      if (search.read >= (isFull ? query.limit : mostRead(search))) {
        search.cut = true;
        break;
      }
      const body = isFull ? undefined : bodyOf(row);
      search.read++;
      search.bytes += body?.length ?? 0;
      taken.push({ row, body });
    }
    const weighed = this.#words.weigh(
      taken.flatMap(({ body }) => body ?? []),
      asked,
    );
    for (const { row, body } of taken) {
      const one = body === undefined ? undefined : weighed.shift();
      if (one === undefined && asked.phrases.length > 0) search.cut = true;
      else if (one?.hasPhrases !== false) search.found.push({ row, length: row.json.length, weighed: one });
    }
  }

  #serve(search: Search, ranked: readonly Found[]): SearchResult['hits'] {
    const { text, limit } = search.query;
    const hits: SearchResult['hits'] = [];
    let bytes = 0;
    for (const { row } of ranked.slice(0, limit)) {
      bytes += row.json.length;
      if (hits.length > 0 && bytes > LIMITS.page_bytes) {
        search.cut = true;
        break;
      }
      const entry = checkedEntry(row);
      hits.push({ entry, snippet: snippet(entry.body, text) });
    }
    return hits;
  }

  /** The newest rows of an expression within the workspace, as many as make it common. */
  #count({ workspace, common }: Search, match: string): Counted {
    const { first: base, past } = rowsOf(workspace);
    return oneRow(this.#sql.count.get({ base, past, match, most: common }));
  }

  /** The expression for the threads to look through; undefined for all, or for more than the index is asked for. */
  #threads({ workspace_id, participant, thread_id }: SearchQuery): string | undefined {
    if (thread_id !== undefined) {
      const { id } = this.#sql.thread.get(thread_id) ?? { id: 0 };
      return quoted(mark.thread(id));
    }
    if (participant === undefined) return undefined;
    const rows = this.#sql.threads.all(workspace_id, participant, THREADS + 1);
    if (rows.length === 0) return quoted(mark.audience(0));
    return rows.length > THREADS ? undefined : anyOf(rows.map(({ thread }) => quoted(mark.audience(thread))));
  }
}

/** The first number of a record of FTS5, which begins with the number of rows. */
function firstVarint(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes.subarray(0, 8)) {
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return value;
}

function anyOf(terms: readonly string[]): string {
  return `(${terms.join(' OR ')})`;
}

/** Words that stand side by side are found only in the text itself, so more of it is read. */
function mostRead({ asked }: Search): number {
  return asked.phrases.length === 0 ? CANDIDATES : 2 * CANDIDATES;
}

/** More for a word that few messages have; how many have a common one is estimated from the newest. */
function rarityOf({ rows, oldest }: Counted, common: number, head: number): number {
  const all = rows < common ? rows : (rows * head) / Math.max(rows, head - (oldest ?? 0));
  return Math.log(1 + (Math.max(0, head - all) + 0.5) / (all + 0.5));
}

function bodyOf({ json }: LinkedRow): string | undefined {
  try {
    return readEntry(json).body;
  } catch {
    return undefined;
  }
}

function prepareStatements(db: DatabaseSync) {
  const prepare = <Row>(sql: string): StatementSync<Row> => db.prepare<Row>(sql);
  return {
    // Both numbers from one moment.
    totals: prepare<{ totals: Uint8Array | null; rows: number | null }>(
      `SELECT (SELECT block FROM search_data WHERE id = 1) AS totals,
       (SELECT rows FROM tallies WHERE name = 'search') AS rows`,
    ),
    workspace: prepare<{ id: number }>('SELECT id FROM searched_workspaces WHERE workspace_id = ?'),
    thread: prepare<{ id: number }>('SELECT id FROM threads WHERE thread_id = ?'),
    threads: prepare<{ thread: number }>(
      'SELECT thread FROM participants WHERE workspace_id = ? AND agent_id = ? LIMIT ?',
    ),
    blocks: prepare<{ id: number; first: number }>(
      'SELECT id, first FROM searched_blocks WHERE workspace = ? ORDER BY first DESC LIMIT ?',
    ),
    count: prepare<Counted>(
      `SELECT count(*) AS rows, min(pos) AS oldest FROM (SELECT rowid - :base AS pos FROM search
       WHERE search MATCH :match AND rowid >= :base AND rowid < :past ORDER BY rowid DESC LIMIT :most)`,
    ),
    match: prepare<{ pos: number }>(
      'SELECT rowid - :base AS pos FROM search WHERE search MATCH :match ORDER BY rowid DESC LIMIT :limit',
    ),
    // The order of the positions is kept: nothing is sorted, and what is not read costs nothing.
    rows: prepare<LinkedRow>(
      `SELECT ${LINKED} FROM json_each(:positions) j CROSS JOIN entries e ON e.pos = j.value
       CROSS JOIN threads t ON t.id = e.thread
       WHERE t.workspace_id = :workspace AND (:thread IS NULL OR t.thread_id = :thread) AND ${OPEN_TO}`,
    ),
    // From the threads of the participant on, so that those of others cost nothing.
    readable: prepare<{ thread_id: string }>(
      `WITH own AS MATERIALIZED (SELECT t.thread_id FROM participants p CROSS JOIN threads t ON t.id = p.thread
         WHERE p.workspace_id = :workspace AND p.agent_id = :participant)
       SELECT thread_id FROM own UNION
       SELECT s.thread_id FROM own CROSS JOIN threads s INDEXED BY threads_by_main ON s.workspace_id = :workspace
         AND instr(s.state, '"side_of"') > 0 AND json_extract(s.state, '$.side_of') = own.thread_id`,
    ),
  };
}
