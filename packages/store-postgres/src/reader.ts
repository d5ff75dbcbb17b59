import {
  type AgentsQuery,
  type CountedThread,
  type CountPage,
  type CountQuery,
  countThreads,
  hasWords,
  isForeign,
  type Located,
  type Page,
  type PageQuery,
  type Reading,
  type SearchQuery,
  type SearchResult,
  type ThreadPlace,
  type ThreadRow,
  type ThreadsPage,
  type ThreadsQuery,
  type WorkspaceHead,
  type WorkspacePage,
  type WorkspaceQuery,
} from '@parley/core';
import { type Cursor, seqOfMessageId } from '@parley/protocol';
import { checkedEntry, checkedRun, type LinkedRow, snippet } from '@parley/store-rows';

import { checkCursor, type CursorRecord, readCount, readThread, type ThreadRecord } from './rows.ts';
import { OWN, ownBy, type OwnColumns, ownOf } from './own-entries.ts';
import { EVERY_WORKSPACE, type Scope } from './scope.ts';
import { type Ask, type Sql, sql } from './sql.ts';
import { askedFor } from './tokens.ts';
import { DISPUTED, unreadBy, wantedThreads } from './wanted-threads.ts';

/** How much of the log one page of a workspace looks through. */
const SCANNED = 5_000;
/** How many of the newest messages with all the words are compared. */
const CANDIDATES = 128;

/** Answers questions; nothing is served before its hash chain or its sum was checked. */
export class Reader {
  readonly #within: (scope: Scope) => Ask;

  constructor(within: (scope: Scope) => Ask) {
    this.#within = within;
  }

  async page(query: PageQuery): Promise<Page> {
    const { thread_id, workspace_id, after, limit, max_bytes } = query;
    const wanted = limit <= 0 ? 0 : limit + 1;
    // One question, so that the thread and its entries are of one moment.
    const rows = await this.#within([workspace_id])<PagedRow>(sql`
      WITH found AS (${threadAndMain(thread_id)})
      SELECT row_to_json(f) AS thread, NULL::int AS seq, NULL AS hash, NULL AS json FROM found f
      UNION ALL (SELECT NULL, e.seq, e.hash, e.json FROM found f JOIN entries e ON e.thread_id = f.thread_id
        WHERE f.thread_id = ${thread_id} AND e.seq >= least(${after}::bigint, f.last_seq) ORDER BY e.seq LIMIT ${wanted}::int)`);
    const threads = rows.flatMap((row) => row.thread ?? []);
    const located = await this.#located(threads, thread_id, workspace_id);
    const { thread } = located;
    if (thread === undefined) return { located, entries: [], has_more: false };
    const from = Math.min(after, thread.last_seq);
    const count = Math.max(0, Math.min(limit, thread.last_seq - from));
    const found = rows.flatMap(({ seq, hash, json }) =>
      seq === null || hash === null || json === null ? [] : [{ seq, hash, json }],
    );
    found.sort((a, b) => a.seq - b.seq);
    const entries = checkedRun(thread_id, found, { after: from, count, max_bytes });
    return { located, entries, has_more: (entries.at(-1)?.seq ?? after) < thread.last_seq };
  }

  async tail(query: Omit<PageQuery, 'after'>): Promise<Page> {
    const sizes = await this.#within([query.workspace_id])<{ seq: number; size: number }>(sql`
      SELECT seq, octet_length(json) AS size FROM entries WHERE thread_id = ${query.thread_id} AND seq > 0
      ORDER BY seq DESC LIMIT ${query.limit}`);
    let after = sizes[0]?.seq ?? 0;
    let bytes = 0;
    for (const [i, { seq, size }] of sizes.entries()) {
      bytes += size;
      if (i > 0 && bytes > query.max_bytes) break;
      after = seq - 1;
    }
    return this.page({ ...query, after });
  }

  async cursors(threadId: string, workspaceId: string): Promise<Cursor[]> {
    const rows = await this.#within([workspaceId])<CursorRecord>(sql`
      SELECT * FROM cursors WHERE thread_id = ${threadId} ORDER BY agent_id`);
    return rows.map((row) => {
      checkCursor(row);
      const { thread_id, agent_id, last_read_seq, last_acked_message_id, updated_at } = row;
      return { thread_id, agent_id, last_read_seq, last_acked_message_id, updated_at };
    });
  }

  async reading(threadId: string, reader: string, workspaceId: string): Promise<Reading> {
    const [row] = await this.#within([workspaceId])<{ cursor: CursorRecord | null } & OwnColumns>(sql`
      SELECT row_to_json(c) AS cursor, ${OWN} FROM (SELECT ${threadId}::text AS thread_id) t
      LEFT JOIN cursors c ON c.thread_id = t.thread_id AND c.agent_id = ${reader} ${ownBy(reader)}`);
    if (row?.cursor) checkCursor(row.cursor);
    const { last_read_seq = 0, last_acked_message_id = null } = row?.cursor ?? {};
    return { last_read_seq, last_acked_message_id, own: row === undefined ? 0 : ownOf(row) };
  }

  async references(threadId: string, messageId: string, workspaceId: string): Promise<string[]> {
    const seq = seqOfMessageId(messageId);
    if (seq === undefined) return [];
    const rows = await this.#within([workspaceId])<LinkedRow>(sql`
      SELECT e.thread_id, e.seq, e.hash, e.json, b.hash AS before FROM entries e
      LEFT JOIN entries b ON b.thread_id = e.thread_id AND b.seq = e.seq - 1
      WHERE e.thread_id = ${threadId} AND e.reply_to = ${seq}::bigint ORDER BY e.seq LIMIT 1000`);
    return rows.map((row) => checkedEntry(row).message_id);
  }

  async threads(query: ThreadsQuery): Promise<ThreadsPage> {
    if (query.text === undefined) return this.#threads(query);
    const titles = await this.#within([query.workspace_id])<{
      thread_id: string;
      updated_at: string;
      title: string;
    }>(sql`
      SELECT t.thread_id, t.updated_at, t.state::json ->> 'title' AS title FROM threads t
      LEFT JOIN cursors c ON c.thread_id = t.thread_id AND c.agent_id = ${query.reader}
      WHERE t.listed_in = ${query.workspace_id} ${wantedThreads(query)}
      ORDER BY t.updated_at DESC, t.born DESC LIMIT ${SCANNED}`);
    const ids = titles.filter(({ title }) => hasWords(title, query.text)).map(({ thread_id }) => thread_id);
    const page = await this.#threads(query, ids.slice(0, query.limit + 1));
    const last = titles.length < SCANNED ? undefined : titles.at(-1);
    if (page.next !== undefined || last === undefined) return page;
    return { ...page, next: { updated_at: last.updated_at, thread_id: last.thread_id } };
  }

  async countThreads(query: CountQuery): Promise<CountPage> {
    const { past, limit } = query;
    const [updated_at = '', thread_id = ''] = past?.split('~') ?? [];
    const before = past === undefined ? undefined : { updated_at, thread_id };
    const found = await this.#within([query.workspace_id])<CountedThread & ThreadPlace>(sql`
      SELECT t.thread_id, t.updated_at, t.state::json ->> 'title' AS title, t.status, ${DISPUTED} AS disputed, (${unreadBy(query.reader)}) AS unread
      FROM threads t LEFT JOIN cursors c ON c.thread_id = t.thread_id AND c.agent_id = ${query.reader}
      WHERE t.listed_in = ${query.workspace_id}
      ${wantedThreads({ ...query, status: undefined, unread: false, before })}
      ORDER BY t.updated_at DESC, t.born DESC LIMIT ${limit}`);
    const last = found.length < limit ? undefined : found.at(-1);
    return {
      counts: countThreads(found, query.text),
      next: last && `${last.updated_at}~${last.thread_id}`,
    };
  }

  async #threads(query: ThreadsQuery, ids?: readonly string[]): Promise<ThreadsPage> {
    const { workspace_id, reader, limit } = query;
    const rows = await this.#within([workspace_id])<
      ThreadRecord & { cursor: CursorRecord | null } & OwnColumns
    >(sql`
      SELECT t.*, CASE WHEN c.sum IS NULL THEN NULL ELSE row_to_json(c) END AS cursor, ${OWN} FROM threads t
      LEFT JOIN cursors c ON c.thread_id = t.thread_id AND c.agent_id = ${reader} ${ownBy(reader)}
      WHERE t.listed_in = ${workspace_id} ${wantedThreads(query)}
      ${ids === undefined ? sql`` : sql`AND t.thread_id = ANY(${[...ids]})`}
      ORDER BY t.updated_at DESC, t.born DESC LIMIT ${limit + 1}`);
    const page: ThreadRow[] = [];
    let bytes = 0;
    let isCut = rows.length > limit;
    for (const row of rows.slice(0, limit)) {
      bytes += row.state.length;
      if (page.length > 0 && bytes > query.max_bytes) {
        isCut = true;
        break;
      }
      if (row.cursor !== null) checkCursor(row.cursor);
      const { last_read_seq = 0, last_acked_message_id = null } = row.cursor ?? {};
      page.push({ state: readThread(row).state, last_read_seq, last_acked_message_id, own: ownOf(row) });
    }
    const last = page.at(-1)?.state;
    if (!isCut || last === undefined) return { rows: page };
    return { rows: page, next: { updated_at: last.updated_at, thread_id: last.thread_id } };
  }

  async agents({ workspace_id, past = '', limit }: AgentsQuery): Promise<string[]> {
    const rows = await this.#within([workspace_id])<{ owner: string }>(sql`
      SELECT DISTINCT owner FROM records WHERE workspace_id = ${workspace_id} AND owner > ${past}
      AND (kind IN ('agent', 'session') OR (kind = 'ask' AND mark = 'open')) ORDER BY owner LIMIT ${limit}`);
    return rows.map(({ owner }) => owner);
  }

  async workspace(query: WorkspaceQuery): Promise<WorkspacePage> {
    const { workspace_id, participant, after, limit, max_bytes } = query;
    const head = await this.position(workspace_id);
    const until = Math.min(head, after + SCANNED);
    const found = await this.#within([workspace_id])<LinkedRow & { pos: number }>(sql`
      SELECT e.pos, e.thread_id, e.seq, e.hash, e.json, b.hash AS before FROM entries e
      JOIN threads t ON t.thread_id = e.thread_id
      LEFT JOIN entries b ON b.thread_id = e.thread_id AND b.seq = e.seq - 1
      WHERE e.workspace_id = ${workspace_id} AND e.pos > ${after} AND e.pos <= ${until} ${this.#openTo(workspace_id, participant)}
      ORDER BY e.pos LIMIT ${limit + 1}`);
    const rows: WorkspacePage['rows'] = [];
    let bytes = 0;
    for (const row of found) {
      bytes += row.json.length;
      if (rows.length === limit || (rows.length > 0 && bytes > max_bytes))
        return { rows, next: rows.at(-1)?.pos ?? after, has_more: true };
      rows.push({ pos: row.pos, entry: checkedEntry(row) });
    }
    return { rows, next: Math.max(after, until), has_more: until < head };
  }

  async position(workspaceId: string): Promise<number> {
    const [row] = await this.#within([workspaceId])<{ workspace_id: string; pos: number; sum: string }>(sql`
      SELECT workspace_id, pos, sum FROM workspaces WHERE workspace_id = ${workspaceId}`);
    return readCount(row);
  }

  async heads({ past, limit }: { past: string; limit: number }): Promise<WorkspaceHead[]> {
    const rows = await this.#within(EVERY_WORKSPACE)<{ workspace_id: string; pos: number; sum: string }>(sql`
      SELECT workspace_id, pos, sum FROM workspaces WHERE workspace_id > ${past} AND pos > 0 ORDER BY workspace_id LIMIT ${limit}`);
    return rows.map((row) => ({ workspace_id: row.workspace_id, pos: readCount(row) }));
  }

  async size(): Promise<number> {
    const [row] = await this.#within(EVERY_WORKSPACE)<{ size: number }>(
      sql`SELECT coalesce(sum(pos), 0)::bigint AS size FROM workspaces`,
    );
    return row?.size ?? 0;
  }

  async readable({
    workspace_id,
    participant,
  }: {
    workspace_id: string;
    participant: string;
  }): Promise<string[]> {
    // From the threads of the participant on, so that those of others cost nothing.
    const rows = await this.#within([workspace_id])<{ thread_id: string }>(sql`
      WITH own AS (SELECT thread_id FROM participants WHERE workspace_id = ${workspace_id} AND agent_id = ${participant})
      SELECT thread_id FROM own UNION
      SELECT t.thread_id FROM own JOIN threads t ON t.workspace_id = ${workspace_id} AND t.side_of = own.thread_id`);
    return rows.map(({ thread_id }) => thread_id);
  }

  async search({ workspace_id, participant, thread_id, text, limit }: SearchQuery): Promise<SearchResult> {
    const asked = askedFor(workspace_id, text);
    if (asked === undefined) return { hits: [], lacks: [] };
    const rows = await this.#within([workspace_id])<LinkedRow & { rank: number; pos: number }>(sql`
      WITH found AS (
        SELECT w.pos, w.thread_id, w.seq, ts_rank(w.tokens, ${asked.query}::tsquery) AS rank FROM words w
        JOIN threads t ON t.thread_id = w.thread_id
        WHERE w.tokens @@ ${asked.query}::tsquery AND w.workspace_id = ${workspace_id}
        ${thread_id === undefined ? sql`` : sql`AND w.thread_id = ${thread_id}`}
        ${this.#openTo(workspace_id, participant)}
        ORDER BY w.pos DESC LIMIT ${CANDIDATES + 1})
      SELECT f.pos, f.rank, e.thread_id, e.seq, e.hash, e.json, b.hash AS before FROM found f
      JOIN entries e ON e.thread_id = f.thread_id AND e.seq = f.seq
      LEFT JOIN entries b ON b.thread_id = e.thread_id AND b.seq = e.seq - 1
      ORDER BY f.rank DESC, f.pos DESC`);
    const hits = rows.slice(0, limit).map((row) => {
      const entry = checkedEntry(row);
      return { entry, snippet: snippet(entry.body, text) };
    });
    const lacks: SearchResult['lacks'] = [
      ...(rows.length > CANDIDATES ? (['older_matches'] as const) : []),
      ...(asked.cut ? (['words'] as const) : []),
    ];
    return { hits, lacks };
  }

  /** The threads `t` of one participant, and the side channels of those. */
  #openTo(workspaceId: string, participant: string | undefined) {
    if (participant === undefined) return sql``;
    return sql`AND EXISTS (SELECT 1 FROM participants p WHERE p.workspace_id = ${workspaceId}
      AND p.agent_id = ${participant} AND p.thread_id IN (t.thread_id, t.side_of))`;
  }

  async #located(rows: readonly ThreadRecord[], threadId: string, workspaceId: string): Promise<Located> {
    const row = rows.find(({ thread_id }) => thread_id === threadId);
    if (row !== undefined) {
      const { state: thread } = readThread(row);
      const main = rows.find(({ thread_id }) => thread_id === thread.side_of);
      return main === undefined ? { thread } : { thread, main: readThread(main).state };
    }
    const [known] = await this.#within([workspaceId])<{
      here: boolean;
      any_thread: boolean;
      there: boolean;
    }>(sql`
      SELECT EXISTS (SELECT 1 FROM threads WHERE workspace_id = ${workspaceId}) AS here, e.any_thread,
        cardinality(e.known) > 0 AS there FROM parley_elsewhere(${[threadId]}::text[]) e`);
    const { here = false, any_thread = false, there = false } = known ?? {};
    return { thread: undefined, foreign: there || isForeign(here, any_thread) };
  }
}

interface PagedRow {
  thread: ThreadRecord | null;
  seq: number | null;
  hash: string | null;
  json: string | null;
}

/** A thread, and the one it hangs on where it is a side channel. */
function threadAndMain(threadId: string): Sql {
  return sql`SELECT * FROM threads WHERE thread_id = ${threadId}
    OR thread_id = (SELECT side_of FROM threads WHERE thread_id = ${threadId})`;
}
