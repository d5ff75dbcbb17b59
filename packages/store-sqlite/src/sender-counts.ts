import { readEntry } from '@parley/core';

import { damaged, rowSum } from '@parley/store-rows';
import type { DatabaseSync } from './sqlite.ts';

interface NumberedRow {
  seq: number;
  nth: number;
  sum: string;
}

/** The entries of each thread, numbered among those of their senders. */
export interface SenderCounts {
  /** How many entries of a sender a thread has, up to a seq and with it. */
  through(thread: number, sender: string, seq: number): number;
  /** Writes the number of one entry. */
  put(thread: number, sender: string, seq: number, nth: number): void;
  /** True where so many entries of a thread are numbered, those of each sender without a hole. */
  isWhole(thread: number, entries: number): boolean;
  /** True where an entry has a number, and where one is named, that one. */
  has(thread: number, sender: string, seq: number, nth?: number): boolean;
  /** Forgets the numbers of a thread. */
  drop(thread: number): void;
}

/** The numbers over one connection. */
export function createSenderCounts(db: DatabaseSync): SenderCounts {
  const last = db.prepare<NumberedRow>(
    'SELECT seq, nth, sum FROM entries_by_sender WHERE thread = ? AND sender = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
  );
  const put = db.prepare(
    'INSERT OR REPLACE INTO entries_by_sender (thread, sender, seq, nth, sum) VALUES (?, ?, ?, ?, ?)',
  );
  const all = db.prepare<NumberedRow & { sender: string }>(
    'SELECT sender, seq, nth, sum FROM entries_by_sender WHERE thread = ? ORDER BY sender, seq',
  );
  const drop = db.prepare('DELETE FROM entries_by_sender WHERE thread = ?');
  const find = (thread: number, sender: string, seq: number): NumberedRow | undefined =>
    last.get(thread, sender, seq);
  const isSound = (thread: number, sender: string, { seq, nth, sum }: NumberedRow): boolean =>
    rowSum(thread, sender, seq, nth) === sum;
  return {
    through(thread, sender, seq) {
      const row = find(thread, sender, seq);
      if (row === undefined) return 0;
      if (!isSound(thread, sender, row)) throw damaged(`the number of ${sender}’s entry ${row.seq}`);
      return row.nth;
    },
    put: (thread, sender, seq, nth) =>
      void put.get(thread, sender, seq, nth, rowSum(thread, sender, seq, nth)),
    isWhole(thread, entries) {
      let count = 0;
      let before = { sender: '', nth: 0 };
      for (const row of all.iterate(thread)) {
        const nth = row.sender === before.sender ? before.nth + 1 : 1;
        if (row.nth !== nth || !isSound(thread, row.sender, row)) return false;
        before = row;
        count++;
      }
      return count === entries;
    },
    has(thread, sender, seq, nth) {
      const row = find(thread, sender, seq);
      return row?.seq === seq && (nth === undefined || row.nth === nth) && isSound(thread, sender, row);
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
    const nthBySender = new Map<string, number>();
    for (const row of entries.iterate(thread)) {
      const sender = senderIn(row.json);
      if (sender === undefined) continue;
      const nth = (nthBySender.get(sender) ?? 0) + 1;
      nthBySender.set(sender, nth);
      counts.put(thread, sender, row.seq, nth);
    }
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
