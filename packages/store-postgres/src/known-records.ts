import type { PutRecord, RecordName, RecordReader, RecordsAsked } from '@parley/core';
import { fieldsOf, TREE_ROOT } from '@parley/protocol';
import { readRecord, type RecordColumns } from '@parley/store-rows';

import { type AskedList, KnownList, type ListedRow } from './known-list.ts';
import { KnownLists } from './known-lists.ts';
import { LAST_KEY, listRows } from './list-records.ts';
import { type Ask, sql } from './sql.ts';

type Row = RecordColumns & { sum: string };

/** The place of a document. */
export interface TreePlace {
  workspace_id: string;
  id: string;
}

/** What is to be known before the rules are asked. */
export interface WantedRecords {
  gets: readonly RecordName[];
  lists: readonly AskedList[];
  /** Documents with all above them. */
  lines: readonly TreePlace[];
}

const COLUMNS = sql`r.kind, r.workspace_id, r.key, r.mark, r.owner, r.json, r.sum`;

/**
 * The records that the commands of one transaction know, as those before have left them. A rule that looks up more is
 * told that there is nothing; what it lacked is loaded together, and the rule is run again.
 */
export class KnownRecords {
  readonly #ask: Ask;
  readonly #values = new Map<string, unknown>();
  readonly #lists = new KnownLists();
  readonly #lackedValues = new Map<string, RecordName>();
  readonly #lackedLists = new Map<string, AskedList>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** True when a rule has asked for something that is not loaded. */
  get hasLacks(): boolean {
    return this.#lackedValues.size + this.#lackedLists.size > 0;
  }

  /** A value as it stands; undefined where there is none. */
  value(name: RecordName): unknown {
    return this.#values.get(nameOf(name));
  }

  /** Loads what was lacked, all in one piece. */
  async loadLacks(): Promise<void> {
    const [gets, lists] = [[...this.#lackedValues.values()], [...this.#lackedLists.values()]];
    this.#lackedValues.clear();
    this.#lackedLists.clear();
    await this.load({ gets, lists, lines: [] });
  }

  async load({ gets, lists, lines }: WantedRecords): Promise<void> {
    const once = new Map(lists.map((one) => [listName(one.workspace_id, one.asked), one]));
    const all = [...once.values()].filter((one) => !this.#lists.has(listName(one.workspace_id, one.asked)));
    const deep = all.filter(({ asked }) => asked.deep === true);
    await Promise.all([
      this.#loadValues(gets),
      this.#loadLines(lines),
      this.#loadBelow(deep),
      ...all.filter(({ asked }) => asked.deep !== true).map((one) => this.#loadList(one)),
    ]);
  }

  /** What the rules of one workspace look into. */
  readerFor(workspace_id: string): RecordReader {
    return {
      get: (kind, key) => {
        const name = { kind, workspace_id, key };
        const text = nameOf(name);
        if (!this.#values.has(text)) this.#lackedValues.set(text, name);
        // What is put under a kind is of that kind; a map of all kinds does not say so.
        return this.#values.get(text) as never;
      },
      list: (asked) => {
        const name = listName(workspace_id, asked);
        const known = this.#lists.get(name);
        if (known === undefined) this.#lackedLists.set(name, { workspace_id, asked });
        // As above: the query names the kind.
        return (known?.values ?? []) as never;
      },
    };
  }

  put(record: PutRecord): void {
    const { kind, workspace_id } = record;
    this.#values.set(nameOf(record), record.value);
    this.#lists.change(kind, workspace_id, record.key, (list) => list.put(record));
  }

  drop(name: RecordName): void {
    this.#values.set(nameOf(name), undefined);
    this.#lists.change(name.kind, name.workspace_id, name.key, (list) => list.drop(name.key));
  }

  #see(row: Row): object {
    const value = readRecord(row);
    this.#values.set(nameOf(row), value);
    return value;
  }

  async #loadValues(names: readonly RecordName[]): Promise<void> {
    const wanted = names.filter((name) => !this.#values.has(nameOf(name)));
    if (wanted.length === 0) return;
    const rows =
      await this.#ask<Row>(sql`SELECT ${COLUMNS} FROM unnest(${wanted.map(({ kind }) => kind)}::text[],
      ${wanted.map((one) => one.workspace_id)}::text[], ${wanted.map(({ key }) => key)}::text[]) AS u (k, w, n)
      JOIN records r ON r.kind = u.k AND r.workspace_id = u.w AND r.key = u.n`);
    for (const name of wanted) this.#values.set(nameOf(name), undefined);
    for (const row of rows) this.#see(row);
  }

  async #loadList({ workspace_id, asked }: AskedList): Promise<void> {
    const { limit = Infinity, deep: _deep, ...query } = asked;
    const rows = await listRows(this.#ask, { ...query, workspace_id, limit });
    const listed = rows.map((row) => ({ key: row.key, value: this.#see(row) }));
    this.#lists.set(listName(workspace_id, asked), {
      workspace_id,
      asked,
      known: new KnownList(asked, listed),
    });
  }

  /** Documents and all above them, in one question however deep they are. */
  async #loadLines(places: readonly TreePlace[]): Promise<void> {
    const wanted = places.filter(({ id }) => id !== TREE_ROOT);
    if (wanted.length === 0) return;
    const rows = await this.#ask<Row>(sql`
      WITH RECURSIVE line (w, id) AS (
        SELECT u.w, u.id FROM unnest(${wanted.map((one) => one.workspace_id)}::text[], ${wanted.map(({ id }) => id)}::text[]) AS u (w, id)
        UNION SELECT l.w, d.json::json ->> 'parent_id' FROM line l
          JOIN records d ON d.kind = 'document' AND d.workspace_id = l.w AND d.key = l.id)
      SELECT ${COLUMNS} FROM line l JOIN records r ON r.kind = 'document' AND r.workspace_id = l.w AND r.key = l.id`);
    for (const { workspace_id, id } of wanted) this.#unlessKnown({ kind: 'document', workspace_id, key: id });
    for (const row of rows) this.#see(row);
  }

  /**
   * All that hangs below some documents, in one question: the places, and the documents at them. Each looks up its own
   * places by the index: `OFFSET 0` keeps the database from comparing all places with all documents instead, and behind
   * the wall around workspaces a bound must be a column to be looked up at all.
   */
  async #loadBelow(tops: readonly AskedList[]): Promise<void> {
    if (tops.length === 0) return;
    const ids = tops.map(({ asked }) => topOf(asked));
    const rows = await this.#ask<Row>(sql`
      WITH RECURSIVE below (w, id, first, past) AS (
        SELECT u.w, u.id, u.id || ' ', u.id || ' ' || ${LAST_KEY}::text
          FROM unnest(${tops.map((one) => one.workspace_id)}::text[], ${ids}::text[]) AS u (w, id)
        UNION SELECT b.w, c.id, c.id || ' ', c.id || ' ' || ${LAST_KEY}::text FROM below b
          CROSS JOIN LATERAL (SELECT p.json::json ->> 'document_id' AS id FROM records p WHERE p.kind = 'branch'
            AND p.workspace_id = b.w AND p.key >= b.first AND p.key < b.past OFFSET 0) c)
      SELECT ${COLUMNS} FROM below b CROSS JOIN LATERAL (SELECT p.* FROM records p WHERE p.kind = 'branch'
        AND p.workspace_id = b.w AND p.key >= b.first AND p.key < b.past OFFSET 0) r
      UNION ALL
      SELECT ${COLUMNS} FROM below b JOIN records r ON r.kind = 'document' AND r.workspace_id = b.w AND r.key = b.id`);
    const listed = new Map<string, AskedList & { rows: ListedRow[] }>();
    const listOf = (workspace_id: string, id: string) => {
      const asked = { kind: 'branch', prefix: `${id} `, deep: true } as const;
      const name = listName(workspace_id, asked);
      const known = listed.get(name);
      if (known !== undefined) return known.rows;
      const fresh: ListedRow[] = [];
      listed.set(name, { workspace_id, asked, rows: fresh });
      return fresh;
    };
    for (const { workspace_id, asked } of tops) listOf(workspace_id, topOf(asked));
    for (const row of rows) {
      const value = this.#see(row);
      if (row.kind !== 'branch') continue;
      listOf(row.workspace_id, topOf({ prefix: row.key })).push({ key: row.key, value });
      const { document_id } = fieldsOf(value);
      if (typeof document_id !== 'string') continue;
      // It may have places below it, and be gone itself.
      listOf(row.workspace_id, document_id);
      this.#unlessKnown({ kind: 'document', workspace_id: row.workspace_id, key: document_id });
    }
    for (const [name, { workspace_id, asked, rows: found }] of listed) {
      found.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
      this.#lists.set(name, { workspace_id, asked, known: new KnownList(asked, found) });
    }
  }

  #unlessKnown(name: RecordName): void {
    const text = nameOf(name);
    if (!this.#values.has(text)) this.#values.set(text, undefined);
  }
}

/** The document under which the places of a list are. */
function topOf({ prefix = '' }: Pick<RecordsAsked, 'prefix'>): string {
  return prefix.slice(0, prefix.indexOf(' '));
}

const nameOf = ({ kind, workspace_id, key }: Omit<RecordName, 'kind'> & { kind: string }): string =>
  JSON.stringify([kind, workspace_id, key]);
const listName = (workspaceId: string, asked: RecordsAsked): string => JSON.stringify([workspaceId, asked]);
