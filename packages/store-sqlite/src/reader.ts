import {
  type AgentsQuery,
  type Entry,
  isForeign,
  type Located,
  type Page,
  type PageQuery,
  type Reading,
  type RecordKind,
  type RecordKinds,
  type RecordsQuery,
  type SearchLag,
  type ThreadPlace,
  type ThreadRow,
  type ThreadState,
  type ThreadsPage,
  type ThreadsQuery,
  type CountPage,
  type CountQuery,
  type WorkspaceHead,
  type WorkspacePage,
  type WorkspaceQuery,
  readEntry,
} from '@parley/core';
import { type Cursor, seqOfMessageId } from '@parley/protocol';

import { number } from './number.ts';
import { followerPosition } from './search-index.ts';
import { type DatabaseSync, type StatementSync, oneRow } from './sqlite.ts';
import { countPage, findThreads } from './find-threads.ts';
import { LINKED, OPEN_TO } from './linked-row.ts';
import { listRecords } from './list-records.ts';
import {
  checkedEntry,
  checkedRun,
  type CursorColumns,
  damaged,
  type LinkedRow,
  sumOfCursor,
} from '@parley/store-rows';
import { checkRun, PAST, type Run, Runs } from './runs.ts';
import { createSenderCounts, type SenderCounts } from './sender-counts.ts';
import { openRun, readThread, THREAD_COLUMNS, type ThreadRecord } from './thread-record.ts';

interface EntryRow {
  seq: number;
  hash: string;
  json: string;
}

type CursorRecord = CursorColumns & { sum: string };

/** A thread with the caller's cursor in it, whose columns are null where there is none. */
type ListedRow = ThreadRecord &
  Omit<CursorColumns, 'updated_at'> & { read_at: string; read_sum: string | null };

/** How much of the log one page of a workspace looks through: others wait for this thread meanwhile. */
const SCANNED = 5_000;

/** Answers questions from one connection; nothing is served before its hash chain or its sum was checked. */
export class Reader {
  readonly #db: DatabaseSync;
  readonly #sql: ReturnType<typeof prepareStatements>;
  readonly #runs: Runs;
  readonly #counts: SenderCounts;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#sql = prepareStatements(db);
    this.#runs = new Runs(db);
    this.#counts = createSenderCounts(db);
  }

  page(query: PageQuery): Page {
    const { id, located } = this.#locate(query.thread_id, query.workspace_id);
    if (id === undefined || located.thread === undefined) return { located, entries: [], has_more: false };
    const { thread } = located;
    const after = Math.min(query.after, thread.last_seq);
    const wanted = Math.min(query.limit, thread.last_seq - after);
    const entries = wanted === 0 ? [] : this.#entries(id, thread, after, wanted, query.max_bytes);
    return { located, entries, has_more: (entries.at(-1)?.seq ?? query.after) < thread.last_seq };
  }

  tail(query: Omit<PageQuery, 'after'>): Page {
    const { id, located } = this.#locate(query.thread_id, query.workspace_id);
    if (id === undefined || located.thread === undefined) return { located, entries: [], has_more: false };
    const { last_seq } = located.thread;
    let after = last_seq;
    let bytes = 0;
    for (const { size } of this.#sql.sizes.iterate(id, query.limit)) {
      bytes += size;
      if (after < last_seq && bytes > query.max_bytes) break;
      after--;
    }
    return this.page({ ...query, after });
  }

  cursors(threadId: string): Cursor[] {
    const rows = this.#sql.cursors.all(threadId);
    return rows.map((row) => {
      checkCursor(row, threadId);
      const { agent_id, last_read_seq, last_acked_message_id, updated_at } = row;
      return { thread_id: threadId, agent_id, last_read_seq, last_acked_message_id, updated_at };
    });
  }

  reading(threadId: string, reader: string): Reading {
    const row = this.#sql.thread.get(threadId);
    const nowhere = { last_read_seq: 0, last_acked_message_id: null };
    if (row === undefined) return { ...nowhere, own: 0 };
    const cursor = this.#sql.cursor.get(row.id, reader);
    if (cursor !== undefined) checkCursor(cursor, threadId);
    const { last_read_seq, last_acked_message_id } = cursor ?? nowhere;
    return { last_read_seq, last_acked_message_id, own: this.#own(row, reader, last_read_seq) };
  }

  /** How many entries after a cursor are the reader's own. */
  #own(row: ThreadRecord, reader: string, after: number): number {
    const { id, last_seq } = row;
    // Nobody has that name: whoever asks so wants no count.
    if (reader === '' || last_seq === null || last_seq <= after) return 0;
    const thread = { id, open: openRun(row) };
    return this.#counts.through(thread, reader, last_seq) - this.#counts.through(thread, reader, after);
  }

  references(threadId: string, messageId: string): string[] {
    const seq = seqOfMessageId(messageId);
    if (seq === undefined) return [];
    const rows = this.#sql.references.all(threadId, seq);
    return rows.map((row) => checkedEntry(row).message_id);
  }

  threads(query: ThreadsQuery): ThreadsPage {
    const { ids, next } = findThreads(this.#db, query);
    const rows: ThreadRow[] = [];
    let bytes = 0;
    for (const id of ids) {
      const row = oneRow(this.#sql.listed.get(query.reader, id));
      bytes += row.state.length;
      if (rows.length > 0 && bytes > query.max_bytes) return { rows, next: placeOf(rows.at(-1)) };
      const { state } = readThread(row);
      const cursor = cursorOf(row);
      rows.push({ state, ...cursor, own: this.#own(row, query.reader, cursor.last_read_seq) });
    }
    return { rows, next };
  }

  countThreads(query: CountQuery): CountPage {
    return countPage(this.#db, query);
  }

  agents({ workspace_id, past = '', limit }: AgentsQuery): string[] {
    const names: string[] = [];
    for (let name: string | undefined = past; names.length < limit; names.push(name)) {
      name = this.#sql.nextAgent.get(workspace_id, name)?.owner;
      if (name === undefined) break;
    }
    return names;
  }

  records<K extends RecordKind>(query: RecordsQuery<K>): RecordKinds[K][] {
    return listRecords(this.#db, query);
  }

  workspace(query: WorkspaceQuery): WorkspacePage {
    const { workspace_id, participant, after, limit, max_bytes } = query;
    const head = this.position(workspace_id);
    const until = Math.min(head, after + SCANNED);
    const found = this.#sql.workspace.iterate({
      after,
      until,
      workspace: workspace_id,
      participant: participant ?? null,
      limit: limit + 1,
    });
    const rows: WorkspacePage['rows'] = [];
    let bytes = 0;
    for (const row of found) {
      bytes += row.json.length;
      if (rows.length === limit || (rows.length > 0 && bytes > max_bytes))
        return { rows, next: rows.at(-1)?.pos ?? after, has_more: true };
      checkRun(row);
      if (row.owner !== workspace_id) throw damaged(`the positions of workspace ${workspace_id}`);
      rows.push({ pos: row.place + row.at - row.pos, entry: checkedEntry(row) });
    }
    return { rows, next: Math.max(after, until), has_more: until < head };
  }

  position(workspaceId: string): number {
    return this.#runs.head(workspaceId);
  }

  heads({ past, limit }: { past: string; limit: number }): WorkspaceHead[] {
    const heads: WorkspaceHead[] = [];
    for (let name = this.#runs.next(past); name !== undefined; name = this.#runs.next(name)) {
      if (heads.length === limit) break;
      heads.push({ workspace_id: name, pos: this.#runs.head(name) });
    }
    return heads;
  }

  placeOf(workspaceId: string, cursor: number): number {
    return this.#runs.placeOf(workspaceId, cursor);
  }

  size(): number {
    return number(this.#db, 'SELECT max(pos) FROM entries');
  }

  searchLag(workspaceId?: string): SearchLag {
    const indexed = followerPosition(this.#db) ?? 0;
    const [place, head] =
      workspaceId === undefined
        ? [indexed, this.size()]
        : [this.#runs.upTo(workspaceId, indexed), this.position(workspaceId)];
    if (head <= place) return { entries: 0 };
    const row = this.#sql.next.get({ pos: indexed, workspace: workspaceId ?? null });
    if (row === undefined) return { entries: 0 };
    const { created_at } = readEntry(row.json);
    return { entries: head - place, since: created_at };
  }

  #locate(threadId: string, workspaceId: string): { id: number | undefined; located: Located } {
    const row = this.#sql.thread.get(threadId);
    if (row !== undefined) {
      const { state: thread } = readThread(row);
      const above = thread.side_of === undefined ? undefined : this.#sql.thread.get(thread.side_of);
      if (above === undefined) return { id: row.id, located: { thread } };
      return { id: row.id, located: { thread, main: readThread(above).state } };
    }
    const foreign = isForeign(
      this.#sql.anyThreadOf.get(workspaceId) !== undefined,
      this.#sql.anyThread.get() !== undefined,
    );
    return { id: undefined, located: { thread: undefined, foreign } };
  }

  #entries(id: number, thread: ThreadState, after: number, wanted: number, maxBytes: number): Entry[] {
    const found = this.#sql.entries.all(id, after, wanted + 1);
    return checkedRun(thread.thread_id, found, { after, count: wanted, max_bytes: maxBytes });
  }
}

function cursorOf(row: ListedRow): Omit<Reading, 'own'> {
  const { read_at, read_sum, last_read_seq, last_acked_message_id } = row;
  if (read_sum === null) return { last_read_seq: 0, last_acked_message_id: null };
  checkCursor({ ...row, updated_at: read_at, sum: read_sum }, row.thread_id);
  return { last_read_seq, last_acked_message_id };
}

function placeOf(row: ThreadRow | undefined): ThreadPlace | undefined {
  return row && { updated_at: row.state.updated_at, thread_id: row.state.thread_id };
}

function checkCursor(row: CursorRecord, threadId: string): void {
  if (sumOfCursor(row) !== row.sum)
    throw damaged(`the cursor of ${row.agent_id} in ${threadId}`, { thread_id: threadId });
}

function prepareStatements(db: DatabaseSync) {
  const prepare = <Row>(sql: string): StatementSync<Row> => db.prepare<Row>(sql);
  return {
    thread: prepare<ThreadRecord>(
      `SELECT ${THREAD_COLUMNS} FROM threads t LEFT JOIN heads h ON h.thread = t.id WHERE t.thread_id = ?`,
    ),
    anyThread: prepare('SELECT 1 FROM threads LIMIT 1'),
    anyThreadOf: prepare('SELECT 1 FROM threads WHERE workspace_id = ? LIMIT 1'),
    entries: prepare<EntryRow>(
      'SELECT seq, hash, json FROM entries WHERE thread = ? AND seq >= ? ORDER BY seq LIMIT ?',
    ),
    cursor: prepare<CursorRecord>('SELECT * FROM cursors WHERE thread = ? AND agent_id = ?'),
    listed: prepare<ListedRow>(
      `SELECT ${THREAD_COLUMNS}, c.thread, c.agent_id, c.last_read_seq, c.last_acked_message_id,
       c.updated_at AS read_at, c.sum AS read_sum FROM threads t
       LEFT JOIN heads h ON h.thread = t.id
       LEFT JOIN cursors c ON c.thread = t.id AND c.agent_id = ? WHERE t.id = ?`,
    ),
    sizes: prepare<{ size: number }>(
      'SELECT octet_length(json) AS size FROM entries WHERE thread = ? AND seq > 0 ORDER BY seq DESC LIMIT ?',
    ),
    cursors: prepare<CursorRecord>(
      'SELECT c.* FROM cursors c JOIN threads t ON t.id = c.thread WHERE t.thread_id = ? ORDER BY c.agent_id',
    ),
    references: prepare<LinkedRow>(
      `SELECT ${LINKED} FROM entries e JOIN threads t ON t.id = e.thread WHERE t.thread_id = ? AND e.reply_to = ? ORDER BY e.seq LIMIT 1000`,
    ),
    // From the run that has the first place on, of each the rows that are wanted.
    workspace: prepare<LinkedRow & Run & { sum: string; at: number; owner: string }>(
      `SELECT r.pos, r.workspace_id, r.place, r.sum, e.pos AS at, t.workspace_id AS owner, ${LINKED}
       FROM runs r CROSS JOIN entries e ON e.pos >= r.pos + max(0, :after + 1 - r.place)
         AND e.pos < min(${PAST}, r.pos + :until + 1 - r.place)
       CROSS JOIN threads t ON t.id = e.thread
       WHERE r.workspace_id = :workspace AND r.place <= :until AND r.place >= coalesce(
         (SELECT max(f.place) FROM runs f WHERE f.workspace_id = :workspace AND f.place <= :after + 1), 0)
         AND ${OPEN_TO}
       ORDER BY r.place, e.pos LIMIT :limit`,
    ),
    next: prepare<{ json: string }>(
      `SELECT e.json FROM entries e JOIN threads t ON t.id = e.thread
       WHERE e.pos > :pos AND (:workspace IS NULL OR t.workspace_id = :workspace) ORDER BY e.pos LIMIT 1`,
    ),
    // One step to each name, however much is kept of it.
    nextAgent: prepare<{ owner: string }>(
      `SELECT owner FROM records INDEXED BY records_by_agent WHERE workspace_id = ? AND owner > ?
       AND (kind IN ('agent', 'session') OR (kind = 'ask' AND mark = 'open')) ORDER BY owner LIMIT 1`,
    ),
  };
}
