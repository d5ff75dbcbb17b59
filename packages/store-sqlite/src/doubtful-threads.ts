import { CHAIN_START, JOURNAL_PREFIX, link } from '@parley/core';

import { senderIn, type SenderCounts } from './sender-counts.ts';
import { type DatabaseSync, oneRow, rowsOf } from './sqlite.ts';
import { type LiveThread, openRun, readThread, threadColumns, type ThreadRecord } from './thread-record.ts';

/** A thread whose rows do not fit the end of its log. */
export interface ThreadDoubt {
  id: number;
  problem: string;
  /** The log itself ends too early, or in an entry that is damaged: nothing can be made of it. */
  isLost: boolean;
}

interface LastEntry {
  seq: number;
  hash: string;
  json: string;
  before: string | null;
}

/** How the entries of a thread are numbered, where they are: with `all` every one is looked at, else the last. */
export interface Numbered {
  counts: SenderCounts;
  all: boolean;
}

/** Holds the rows of every thread against their sums, against each other and against the last entry of its log. */
export function* doubtfulThreads(db: DatabaseSync, numbered?: Numbered): Generator<ThreadDoubt> {
  const last = db.prepare<LastEntry>(
    `SELECT e.seq, e.hash, e.json,
     (SELECT b.hash FROM entries b WHERE b.thread = e.thread AND b.seq = e.seq - 1) AS before
     FROM entries e WHERE e.thread = ? ORDER BY e.seq DESC LIMIT 1`,
  );
  const members = membersByThread(db);
  const known = new Set<number>();
  const all = db.prepare<ThreadRecord>(
    `SELECT ${threadColumns(db)} FROM threads t LEFT JOIN heads h ON h.thread = t.id`,
  );
  for (const row of rowsOf(all)) {
    const { id } = row;
    known.add(id);
    const end = last.get(id);
    const doubt =
      doubtOf(row, end, members.get(id) ?? new Set()) ??
      (numbered === undefined || end === undefined ? undefined : misnumbered(row, end, numbered));
    if (doubt !== undefined) yield { id, ...doubt, problem: `${row.thread_id}: ${doubt.problem}` };
  }
  const others = db.prepare<{ thread: number }>('SELECT thread FROM heads').all();
  for (const id of new Set([...threadsOfLog(db), ...members.keys(), ...others.map(({ thread }) => thread)]))
    if (!known.has(id)) yield { id, problem: `thread ${id} of the log is not listed`, isLost: false };
}

function doubtOf(
  row: ThreadRecord,
  end: LastEntry | undefined,
  members: ReadonlySet<string>,
): { problem: string; isLost: boolean } | undefined {
  const read = soundThread(row);
  if (read === undefined) return { problem: 'its state is not as it was written', isLost: false };
  const { last_seq, participants } = read.state;
  if (end === undefined || end.seq < last_seq)
    return { problem: `the log ends at seq ${end?.seq ?? -1}, the thread was at ${last_seq}`, isLost: true };
  if (end.hash !== read.head) {
    const isLost = link(end.before ?? CHAIN_START, end.json) !== end.hash;
    return { problem: 'its head is not the end of its log', isLost };
  }
  const areListed = members.size === participants.length && participants.every((name) => members.has(name));
  return areListed
    ? undefined
    : { problem: 'its participants are not the ones that are listed', isLost: false };
}

function misnumbered(
  row: ThreadRecord,
  { seq, json }: LastEntry,
  { counts, all }: Numbered,
): { problem: string; isLost: boolean } | undefined {
  const sender = senderIn(json);
  // A damaged entry is for those who read it.
  if (sender === undefined) return undefined;
  const thread = { id: row.id, open: openRun(row) };
  const isWhole = counts.has(thread, sender, seq) && (!all || counts.isWhole(thread));
  return isWhole ? undefined : { problem: 'its entries are not counted by sender', isLost: false };
}

/** Threads that stand in another list than their own, or in none. */
export function misplacedThreads(db: DatabaseSync): ThreadDoubt[] {
  const rows = db
    .prepare<{ id: number; thread_id: string }>(
      `SELECT t.id, t.thread_id FROM threads t JOIN heads h ON h.thread = t.id
       WHERE h.listed_in IS NOT iif(t.thread_id GLOB '${JOURNAL_PREFIX}*', NULL, t.workspace_id)`,
    )
    .all();
  return rows.map(({ id, thread_id }) => ({
    id,
    problem: `${thread_id}: it is not in the list of its workspace`,
    isLost: false,
  }));
}

function soundThread(row: ThreadRecord): LiveThread | undefined {
  try {
    return readThread(row);
  } catch {
    return undefined;
  }
}

function membersByThread(db: DatabaseSync): Map<number, Set<string>> {
  const members = new Map<number, Set<string>>();
  const rows = rowsOf(
    db.prepare<{ thread: number; agent_id: string }>('SELECT thread, agent_id FROM participants'),
  );
  for (const { thread, agent_id } of rows)
    members.set(thread, (members.get(thread) ?? new Set()).add(agent_id));
  return members;
}

/** Every thread that has an entry, found in one step each: the log itself may be long. */
export function* threadsOfLog(db: DatabaseSync): Generator<number> {
  const next = db.prepare<{ thread: number | null }>(
    'SELECT min(thread) AS thread FROM entries WHERE thread > ?',
  );
  for (let thread: number | null = -1; ;) {
    ({ thread } = oneRow(next.get(thread)));
    if (thread === null) return;
    yield thread;
  }
}
