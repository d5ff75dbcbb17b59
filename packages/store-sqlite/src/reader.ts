import {
  CHAIN_START,
  type Entry,
  isForeign,
  JOURNAL_PREFIX,
  link,
  type Located,
  type Page,
  type PageQuery,
  type RecordKind,
  type RecordKinds,
  type RecordsQuery,
  type SearchLag,
  type ThreadRow,
  type ThreadState,
  type ThreadsPage,
  type ThreadsQuery,
  type WorkspacePage,
  type WorkspaceQuery,
} from '@parley/core';
import { type Cursor, seqOfMessageId } from '@parley/protocol';

import { number } from './number.ts';
import { followerPosition } from './search-index.ts';
import type { DatabaseSync, StatementSync } from './sqlite.ts';
import { checkedEntry, LINKED, type LinkedRow, OPEN_TO } from './linked-row.ts';
import { listRecords } from './list-records.ts';
import { type CursorColumns, damaged, damagedEntry, sumOfCursor } from './row-sum.ts';
import { readThread, THREAD_COLUMNS, type ThreadRecord } from './thread-record.ts';

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

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#sql = prepareStatements(db);
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
    for (const { size } of this.#sql.sizes.iterate(id, query.limit) as Iterable<{ size: number }>) {
      bytes += size;
      if (after < last_seq && bytes > query.max_bytes) break;
      after--;
    }
    return this.page({ ...query, after });
  }

  cursors(threadId: string): Cursor[] {
    const rows = this.#sql.cursors.all(threadId) as unknown as CursorRecord[];
    return rows.map((row) => {
      checkCursor(row, threadId);
      const { agent_id, last_read_seq, last_acked_message_id, updated_at } = row;
      return { thread_id: threadId, agent_id, last_read_seq, last_acked_message_id, updated_at };
    });
  }

  references(threadId: string, messageId: string): string[] {
    const seq = seqOfMessageId(messageId);
    if (seq === undefined) return [];
    const rows = this.#sql.references.all(threadId, seq) as unknown as LinkedRow[];
    return rows.map((row) => checkedEntry(row).message_id);
  }

  threads(query: ThreadsQuery): ThreadsPage {
    const { participant, before, limit } = query;
    const from = participant === undefined ? 'threads t' : 'participants p JOIN threads t ON t.id = p.thread';
    const conditions = [
      participant === undefined
        ? `t.workspace_id = :workspace AND t.thread_id NOT GLOB '${JOURNAL_PREFIX}*'`
        : 'p.workspace_id = :workspace AND p.agent_id = :participant',
      ...(query.status === undefined ? [] : ['t.status = :status']),
      ...(query.unread ? ['h.last_seq > coalesce(c.last_read_seq, 0)'] : []),
      ...(before === undefined ? [] : ['(h.updated_at, t.thread_id) < (:updated_at, :thread_id)']),
    ];
    const sql = `SELECT ${THREAD_COLUMNS}, c.thread, c.agent_id, c.last_read_seq, c.last_acked_message_id,
      c.updated_at AS read_at, c.sum AS read_sum FROM ${from}
      JOIN heads h ON h.thread = t.id
      LEFT JOIN cursors c ON c.thread = t.id AND c.agent_id = :reader
      WHERE ${conditions.join(' AND ')} ORDER BY h.updated_at DESC, t.thread_id DESC LIMIT :limit`;
    const found = this.#db.prepare(sql).iterate({
      workspace: query.workspace_id,
      reader: query.reader,
      limit: limit + 1,
      ...(participant === undefined ? {} : { participant }),
      ...(query.status === undefined ? {} : { status: query.status }),
      ...before,
    }) as unknown as Iterable<ListedRow>;
    const rows: ThreadRow[] = [];
    let bytes = 0;
    for (const row of found) {
      bytes += row.state.length;
      if (rows.length === limit || (rows.length > 0 && bytes > query.max_bytes))
        return { rows, has_more: true };
      rows.push({ state: readThread(row).state, last_read_seq: lastRead(row) });
    }
    return { rows, has_more: false };
  }

  records<K extends RecordKind>(query: RecordsQuery<K>): RecordKinds[K][] {
    return listRecords(this.#db, query);
  }

  workspace(query: WorkspaceQuery): WorkspacePage {
    const { workspace_id, participant, after, limit, max_bytes } = query;
    const head = this.position();
    const until = Math.min(head, after + SCANNED);
    const found = this.#sql.workspace.iterate({
      after,
      until,
      workspace: workspace_id ?? null,
      participant: participant ?? null,
      limit: limit + 1,
    }) as unknown as Iterable<LinkedRow & { pos: number; workspace_id: string }>;
    const rows: WorkspacePage['rows'] = [];
    let bytes = 0;
    for (const row of found) {
      bytes += row.json.length;
      if (rows.length === limit || (rows.length > 0 && bytes > max_bytes))
        return { rows, next: rows.at(-1)?.pos ?? after, has_more: true };
      rows.push({ pos: row.pos, workspace_id: row.workspace_id, entry: checkedEntry(row) });
    }
    return { rows, next: Math.max(after, until), has_more: until < head };
  }

  position(): number {
    return number(this.#db, 'SELECT max(pos) FROM entries');
  }

  searchLag(): SearchLag {
    const indexed = followerPosition(this.#db) ?? 0;
    const entries = Math.max(0, this.position() - indexed);
    const row = entries === 0 ? undefined : this.#sql.next.get(indexed);
    if (row === undefined) return { entries: 0 };
    const { created_at } = JSON.parse((row as { json: string }).json) as Entry;
    return { entries, since: created_at };
  }

  #locate(threadId: string, workspaceId: string): { id: number | undefined; located: Located } {
    const row = this.#sql.thread.get(threadId) as ThreadRecord | undefined;
    if (row !== undefined) {
      const { state: thread } = readThread(row);
      const above = (thread.side_of === undefined ? undefined : this.#sql.thread.get(thread.side_of)) as
        | ThreadRecord
        | undefined;
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
    const found = this.#sql.entries.all(id, after, wanted + 1) as unknown as EntryRow[];
    // Before the thread's creation stands nothing.
    const rows = after < 0 ? [undefined, ...found] : found;
    const entries: Entry[] = [];
    let bytes = 0;
    for (let i = 1; i <= wanted; i++) {
      const row = rows[i];
      const seq = after + i;
      if (row?.seq !== seq || link(rows[i - 1]?.hash ?? CHAIN_START, row.json) !== row.hash)
        throw damagedEntry(thread.thread_id, seq);
      bytes += row.json.length;
      if (i > 1 && bytes > maxBytes) break;
      entries.push(JSON.parse(row.json) as Entry);
    }
    return entries;
  }
}

function lastRead(row: ListedRow): number {
  const { read_at, read_sum } = row;
  if (read_sum === null) return 0;
  checkCursor({ ...row, updated_at: read_at, sum: read_sum }, row.thread_id);
  return row.last_read_seq;
}

function checkCursor(row: CursorRecord, threadId: string): void {
  if (sumOfCursor(row) !== row.sum)
    throw damaged(`the cursor of ${row.agent_id} in ${threadId}`, { thread_id: threadId });
}

function prepareStatements(db: DatabaseSync) {
  const prepare = (sql: string): StatementSync => db.prepare(sql);
  return {
    thread: prepare(
      `SELECT ${THREAD_COLUMNS} FROM threads t LEFT JOIN heads h ON h.thread = t.id WHERE t.thread_id = ?`,
    ),
    anyThread: prepare('SELECT 1 FROM threads LIMIT 1'),
    anyThreadOf: prepare('SELECT 1 FROM threads WHERE workspace_id = ? LIMIT 1'),
    entries: prepare(
      'SELECT seq, hash, json FROM entries WHERE thread = ? AND seq >= ? ORDER BY seq LIMIT ?',
    ),
    sizes: prepare(
      'SELECT octet_length(json) AS size FROM entries WHERE thread = ? AND seq > 0 ORDER BY seq DESC LIMIT ?',
    ),
    cursors: prepare(
      'SELECT c.* FROM cursors c JOIN threads t ON t.id = c.thread WHERE t.thread_id = ? ORDER BY c.agent_id',
    ),
    references: prepare(
      `SELECT ${LINKED} FROM entries e JOIN threads t ON t.id = e.thread WHERE t.thread_id = ? AND e.reply_to = ? ORDER BY e.seq LIMIT 1000`,
    ),
    workspace: prepare(
      `SELECT e.pos, t.workspace_id, ${LINKED} FROM entries e JOIN threads t ON t.id = e.thread
       WHERE e.pos > :after AND e.pos <= :until AND (:workspace IS NULL OR t.workspace_id = :workspace) AND ${OPEN_TO}
       ORDER BY e.pos LIMIT :limit`,
    ),
    next: prepare('SELECT json FROM entries WHERE pos > ? ORDER BY pos LIMIT 1'),
  };
}
