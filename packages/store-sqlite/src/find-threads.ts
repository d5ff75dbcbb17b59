import {
  type CountedThread,
  type CountPage,
  type CountQuery,
  countThreads,
  hasWords,
  type ThreadPlace,
  type ThreadsQuery,
} from '@parley/core';

import { listRows } from './list-records.ts';
import type { DatabaseSync } from './sqlite.ts';

/** A thread as it is counted, with yes and no as SQLite says them. */
type Counted = Omit<CountedThread, 'disputed' | 'unread'> & { disputed: number; unread: number };

/** Whoever is in most of the newest threads is served by walking them; so many are looked at for each one wanted. */
const NEARBY = 4;
/** The threads of one agent are put in order as long as there are not more than these. */
const OWN = 2_000;
/** How much of a list one page looks through: others wait for this thread meanwhile. */
const SCANNED = 5_000;
/** How many side channels of one thread are looked at, the newest. */
const SIDES = 1_000;

/** The threads of a page by their numbers, and where the next page begins. */
interface FoundThreads {
  ids: number[];
  next: ThreadPlace | undefined;
}

/** Finds the threads that a query names, newest activity first; what it costs does not grow with how many there are. */
export function findThreads(db: DatabaseSync, query: ThreadsQuery): FoundThreads {
  const { participant, limit, side_of } = query;
  const find = createFinder(db, query);
  if (side_of !== undefined) return find.page(SIDE_CHANNELS);
  if (participant === undefined) return find.walk(SCANNED);
  const near = find.walk(NEARBY * limit);
  if (near.ids.length === limit || near.next === undefined) return near;
  const own = 'SELECT 1 FROM participants WHERE workspace_id = :workspace AND agent_id = :participant';
  const few = listRows(db, `${own} LIMIT ${OWN + 1}`, { workspace: query.workspace_id, participant });
  return few.length <= OWN ? find.page(OWN_THREADS) : find.walk(SCANNED);
}

const SIDE_CHANNELS = `(SELECT id AS thread FROM threads WHERE workspace_id = :workspace AND instr(state, '"side_of"') > 0
  AND json_extract(state, '$.side_of') = :side_of ORDER BY id DESC LIMIT ${SIDES}) p CROSS JOIN heads h ON h.thread = p.thread`;
const OWN_THREADS = `participants p CROSS JOIN heads h ON h.thread = p.thread
  AND p.workspace_id = :workspace AND p.agent_id = :participant`;

function createFinder(db: DatabaseSync, query: ThreadsQuery) {
  const { workspace_id, participant, reader, status, side_of, unread, before, limit } = query;
  const { group, text, with_any } = query;
  const parameters = {
    workspace: workspace_id,
    ...(participant === undefined ? {} : { participant }),
    ...(unread ? { reader } : {}),
    ...(status === undefined ? {} : { status }),
    ...(side_of === undefined ? {} : { side_of }),
    ...(with_any === undefined ? {} : { with_any: JSON.stringify(with_any) }),
    ...before,
  };
  const used = (sql: string, more: Record<string, string | number>): Record<string, string | number> =>
    Object.fromEntries(
      Object.entries({ ...parameters, ...more }).filter(([name]) => sql.includes(`:${name}`)),
    );
  const rowsOf = (sql: string, more: Record<string, string | number> = {}): Found[] =>
    listRows<Found>(db, sql, used(sql, more)).filter(({ title = '' }) => hasWords(title, text));
  // Words are looked for here, in what is found otherwise.
  const title = text === undefined ? '' : `, (${TITLE}) AS title`;
  const most = text === undefined ? limit + 1 : SCANNED;
  const from = before === undefined ? '' : BEFORE;
  const wanted = [
    'h.listed_in = :workspace',
    ...(status === undefined
      ? []
      : ['EXISTS (SELECT 1 FROM threads t WHERE t.id = h.thread AND t.status = :status)']),
    ...(group === undefined
      ? []
      : [`EXISTS (SELECT 1 FROM threads t WHERE t.id = h.thread AND ${GROUPS[group]})`]),
    ...(with_any === undefined ? [] : [WITH_ANY]),
    ...(unread ? [UNREAD] : []),
  ].join(' AND ');

  /** The last of those that were looked at. */
  function placeOf({ thread, updated_at }: Found): ThreadPlace {
    const sql = 'SELECT thread_id FROM threads WHERE id = :thread';
    const [{ thread_id } = { thread_id: '' }] = listRows<{ thread_id: string }>(db, sql, { thread });
    return { updated_at, thread_id };
  }

  function cut(found: readonly Found[]): FoundThreads {
    const last = found[limit - 1];
    return {
      ids: found.slice(0, limit).map(({ thread }) => thread),
      next: found.length > limit && last !== undefined ? placeOf(last) : undefined,
    };
  }

  return {
    /** Puts what some tables hold in order. */
    page(tables: string): FoundThreads {
      return cut(
        rowsOf(
          `SELECT h.thread, h.updated_at${title} FROM ${tables} WHERE ${wanted} ${from}
           ORDER BY h.updated_at DESC, h.thread DESC LIMIT :limit`,
          { limit: most },
        ),
      );
    },
    /** Goes through the list of the workspace in its order, so far and no further: a page may come out short. */
    walk(scanned: number): FoundThreads {
      const list = `SELECT * FROM heads h INDEXED BY heads_by_recency WHERE h.listed_in = :workspace ${from}
        ORDER BY h.updated_at DESC, h.thread DESC`;
      const member =
        participant === undefined
          ? ''
          : `AND EXISTS (SELECT 1 FROM participants p WHERE p.workspace_id = :workspace AND p.agent_id = :participant AND p.thread = h.thread)`;
      // In the order of the list: what is inside comes out as it is, and no more of it than is asked for.
      const sql = `SELECT h.thread, h.updated_at${title} FROM (${list} LIMIT :scanned) h WHERE ${wanted} ${member} LIMIT :limit`;
      const found = rowsOf(sql, { scanned, limit: most });
      if (found.length > limit) return cut(found);
      const after = `SELECT thread, updated_at FROM (${list} LIMIT 1 OFFSET :scanned)`;
      const [end] = listRows<Found>(db, after, used(after, { scanned: scanned - 1 }));
      const ids = found.map(({ thread }) => thread);
      return { ids, next: end === undefined ? undefined : placeOf(end) };
    },
  };
}

interface Found {
  thread: number;
  updated_at: string;
  title?: string;
}

const TITLE = "SELECT json_extract(t.state, '$.title') FROM threads t WHERE t.id = h.thread";
const DISPUTED = "json_array_length(t.state, '$.findings') > 0";
const GROUPS = {
  open: "t.status IN ('active', 'blocked')",
  blocked: `(t.status = 'blocked' OR (t.status = 'active' AND ${DISPUTED}))`,
  done: "t.status IN ('resolved', 'closed')",
};
const WITH_ANY = `EXISTS (SELECT 1 FROM participants w WHERE w.workspace_id = :workspace AND w.thread = h.thread
  AND w.agent_id IN (SELECT value FROM json_each(:with_any)))`;

/** After a place in the list: the newest first, of one moment the youngest thread first. */
const BEFORE = `AND (h.updated_at, h.thread) < (:updated_at, coalesce((SELECT id FROM threads WHERE thread_id = :thread_id), 0))`;

const READ =
  'coalesce((SELECT last_read_seq FROM cursors WHERE thread = h.thread AND agent_id = :reader), 0)';
const ENDED = 'entries_by_sender WHERE thread = h.thread AND sender = :reader';
/** How many entries of the reader's own there are up to a seq. */
const ownUpTo = (
  seq: string,
): string => `iif(h.speaker = :reader AND ${seq} >= h.run_seq, h.run_nth + ${seq} - h.run_seq,
  coalesce((SELECT nth + min(last, ${seq}) - seq FROM ${ENDED} AND seq <= ${seq} ORDER BY seq DESC LIMIT 1), 0))`;
/** Something of another stands after the reader's cursor. */
const UNREAD = `h.last_seq > ${READ} AND h.last_seq - ${READ} > ${ownUpTo('h.last_seq')} - ${ownUpTo(READ)}`;

/** Counts a page of threads, the youngest first: a thread keeps its number, whatever happens between two pages. */
export function countPage(db: DatabaseSync, query: CountQuery): CountPage {
  const { workspace_id, participant, reader, text, with_any, limit, past } = query;
  const own = participant === undefined ? {} : { participant };
  const page = participant === undefined ? ANY_PAGE : OWN_PAGE;
  const place = { workspace: workspace_id, ...own, past: Number(past ?? Number.MAX_SAFE_INTEGER), limit };
  const sql = `SELECT json_extract(t.state, '$.title') AS title, t.status, ${DISPUTED} AS disputed, (${UNREAD}) AS unread
    FROM (${page}) p CROSS JOIN heads h ON h.thread = p.thread CROSS JOIN threads t ON t.id = h.thread
    WHERE h.listed_in = :workspace ${with_any === undefined ? '' : `AND ${WITH_ANY}`}`;
  const among = with_any === undefined ? {} : { with_any: JSON.stringify(with_any) };
  const found = listRows<Counted>(db, sql, { ...place, reader, ...among });
  const counts = countThreads(
    found.map((row) => ({ ...row, disputed: row.disputed === 1, unread: row.unread === 1 })),
    text,
  );
  const [end] = listRows<{ size: number; last: number }>(
    db,
    `SELECT count(*) AS size, min(thread) AS last FROM (${page})`,
    place,
  );
  return { counts, next: end?.size === limit ? String(end.last) : undefined };
}

const ANY_PAGE = `SELECT id AS thread FROM threads INDEXED BY threads_by_workspace
  WHERE workspace_id = :workspace AND id < :past ORDER BY id DESC LIMIT :limit`;
const OWN_PAGE = `SELECT thread FROM participants
  WHERE workspace_id = :workspace AND agent_id = :participant AND thread < :past ORDER BY thread DESC LIMIT :limit`;
