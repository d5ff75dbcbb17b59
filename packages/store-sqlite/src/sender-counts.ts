import { readEntry } from '@parley/core';

import { damaged, rowSum } from '@parley/store-rows';
import type { DatabaseSync } from './sqlite.ts';

/** Entries of one sender that stand side by side in a thread. */
export interface SenderRun {
  sender: string;
  /** Where the run begins. */
  seq: number;
  /** Where it ends; it grows as long as nobody else writes. */
  last: number;
  /** The first entry of the run is the sender's nth in the thread. */
  nth: number;
}

type Row = SenderRun & { sum: string };

/** The entries of each thread, numbered among those of their senders. */
export interface SenderCounts {
  /** How many entries of a sender a thread has, up to a seq and with it. */
  through(thread: number, sender: string, seq: number): number;
  /** The newest run of a sender. */
  newest(thread: number, sender: string): SenderRun | undefined;
  /** Writes one run, over itself where it has grown. */
  put(thread: number, run: SenderRun): void;
  /** True where so many entries of a thread are numbered, those of each sender without a hole. */
  isWhole(thread: number, entries: number): boolean;
  /** True where an entry has a number, and where one is named, that one. */
  has(thread: number, sender: string, seq: number, nth?: number): boolean;
  /** Forgets the numbers of a thread. */
  drop(thread: number): void;
}

/** The run of a sender with its next entry: the one it has, grown, or a new one where others wrote in between. */
export function withNext(newest: SenderRun | undefined, sender: string, seq: number): SenderRun {
  if (newest?.last !== seq - 1)
    return { sender, seq, last: seq, nth: newest === undefined ? 1 : lastNumber(newest) + 1 };
  newest.last = seq;
  return newest;
}

/** The number of a run's last entry. */
function lastNumber({ seq, last, nth }: SenderRun): number {
  return nth + last - seq;
}

/** The numbers over one connection. */
export function createSenderCounts(db: DatabaseSync): SenderCounts {
  const columns = 'sender, seq, last, nth, sum FROM entries_by_sender WHERE thread = ?';
  const upTo = db.prepare<Row>(`SELECT ${columns} AND sender = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`);
  const put = db.prepare(
    'INSERT OR REPLACE INTO entries_by_sender (thread, sender, seq, last, nth, sum) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const all = db.prepare<Row>(`SELECT ${columns} ORDER BY sender, seq`);
  const drop = db.prepare('DELETE FROM entries_by_sender WHERE thread = ?');
  const sumOf = (thread: number, { sender, seq, last, nth }: SenderRun): string =>
    rowSum(thread, sender, seq, last, nth);
  const isSound = (thread: number, row: Row): boolean => sumOf(thread, row) === row.sum;
  /** The last run of a sender that begins before a seq or with it. */
  const sound = (thread: number, sender: string, seq: number): SenderRun | undefined => {
    const row = upTo.get(thread, sender, seq);
    if (row === undefined || isSound(thread, row)) return row;
    throw damaged(`the number of ${sender}’s entry ${row.seq}`);
  };
  return {
    through(thread, sender, seq) {
      const run = sound(thread, sender, seq);
      return run === undefined ? 0 : run.nth + Math.min(run.last, seq) - run.seq;
    },
    newest: (thread, sender) => sound(thread, sender, Number.MAX_SAFE_INTEGER),
    put: (thread, run) => void put.get(thread, run.sender, run.seq, run.last, run.nth, sumOf(thread, run)),
    isWhole(thread, entries) {
      let count = 0;
      let before: SenderRun | undefined;
      for (const row of all.iterate(thread)) {
        const same = before?.sender === row.sender ? before : undefined;
        const next = same === undefined ? 1 : lastNumber(same) + 1;
        const isAfter = row.last >= row.seq && (same === undefined || row.seq > same.last + 1);
        if (row.nth !== next || !isAfter || !isSound(thread, row)) return false;
        before = row;
        count += row.last - row.seq + 1;
      }
      return count === entries;
    },
    has(thread, sender, seq, nth) {
      const row = upTo.get(thread, sender, seq);
      if (row === undefined || row.last < seq || !isSound(thread, row)) return false;
      return nth === undefined || row.nth + seq - row.seq === nth;
    },
    drop: (thread) => void drop.run(thread),
  };
}

/** Numbers the entries of one thread anew, from its log. */
export function createNumbering(db: DatabaseSync): (thread: number) => void {
  const entries = db.prepare<{ seq: number; json: string }>(
    'SELECT seq, json FROM entries WHERE thread = ? ORDER BY seq',
  );
  const counts = createSenderCounts(db);
  return (thread) => {
    counts.drop(thread);
    const newestBySender = new Map<string, SenderRun>();
    const runs = new Set<SenderRun>();
    for (const row of entries.iterate(thread)) {
      const sender = senderIn(row.json);
      if (sender === undefined) continue;
      const run = withNext(newestBySender.get(sender), sender, row.seq);
      newestBySender.set(sender, run);
      runs.add(run);
    }
    for (const run of runs) counts.put(thread, run);
  };
}

/** Who wrote an entry; undefined where it cannot be read. */
export function senderIn(json: string): string | undefined {
  try {
    return readEntry(json).sender_agent_id;
  } catch {
    return undefined;
  }
}
