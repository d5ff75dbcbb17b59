import { readEntry } from '@parley/core';

import { damaged, rowSum } from '@parley/store-rows';
import type { DatabaseSync } from './sqlite.ts';
import { type OpenRun, openRun, type ThreadRecord } from './thread-record.ts';

/** What one sender has written side by side, after which another wrote. */
export interface EndedRun extends OpenRun {
  /** Where it ends. */
  last: number;
}

type Row = EndedRun & { sum: string };

/** A thread by its number, with the run that is open in its head. */
interface Numbered {
  id: number;
  open: OpenRun | undefined;
}

/** The entries of each thread, numbered among those of their senders. */
export interface SenderCounts {
  /** The run that stands in the head of a thread. */
  open(thread: number): OpenRun | undefined;
  /** How many entries of a sender a thread has, up to a seq of its log and with it. */
  through(thread: Numbered, sender: string, seq: number): number;
  /** How many entries of a sender the runs of a thread have that have ended. */
  ended(thread: number, sender: string): number;
  /** Writes a run that has ended. */
  put(thread: number, run: EndedRun): void;
  /** True where every entry before the open run is numbered, those of each sender without a hole. */
  isWhole(thread: Numbered): boolean;
  /** True where an entry has a number, and where one is named, that one. */
  has(thread: Numbered, sender: string, seq: number, nth?: number): boolean;
  /** Forgets the numbers of a thread. */
  drop(thread: number): void;
}

/** The numbers over one connection. */
export function createSenderCounts(db: DatabaseSync): SenderCounts {
  const head = db.prepare<Pick<ThreadRecord, 'speaker' | 'run_seq' | 'run_nth'>>(
    'SELECT speaker, run_seq, run_nth FROM heads WHERE thread = ?',
  );
  const columns = 'sender, seq, last, nth, sum FROM entries_by_sender WHERE thread = ?';
  const upTo = db.prepare<Row>(`SELECT ${columns} AND sender = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`);
  const put = db.prepare(
    'INSERT OR REPLACE INTO entries_by_sender (thread, sender, seq, last, nth, sum) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const all = db.prepare<Row>(`SELECT ${columns} ORDER BY sender, seq`);
  const drop = db.prepare('DELETE FROM entries_by_sender WHERE thread = ?');
  const sumOf = (thread: number, { sender, seq, last, nth }: EndedRun): string =>
    rowSum(thread, sender, seq, last, nth);
  const isSound = (thread: number, row: Row): boolean => sumOf(thread, row) === row.sum;
  /** How many entries of a sender stand in the runs that ended, up to a seq. */
  const endedUpTo = (thread: number, sender: string, seq: number): number => {
    const row = upTo.get(thread, sender, seq);
    if (row === undefined) return 0;
    if (!isSound(thread, row)) throw damaged(`the number of ${sender}’s entry ${row.seq}`);
    return row.nth + Math.min(row.last, seq) - row.seq;
  };
  return {
    open(thread) {
      const row = head.get(thread);
      return row === undefined ? undefined : openRun(row);
    },
    through({ id, open }, sender, seq) {
      if (open?.sender === sender && seq >= open.seq) return open.nth + seq - open.seq;
      return endedUpTo(id, sender, seq);
    },
    ended: (thread, sender) => endedUpTo(thread, sender, Number.MAX_SAFE_INTEGER),
    put: (thread, run) => void put.get(thread, run.sender, run.seq, run.last, run.nth, sumOf(thread, run)),
    isWhole({ id, open }) {
      if (open === undefined) return false;
      const ends = new Map<string, { last: number; number: number }>();
      const follows = ({ sender, seq, nth }: OpenRun): boolean => {
        const { last, number } = ends.get(sender) ?? { last: -2, number: 0 };
        return nth === number + 1 && seq > last + 1;
      };
      let count = 0;
      for (const row of all.iterate(id)) {
        const { sender, seq, last, nth } = row;
        if (!follows(row) || last < seq || !isSound(id, row)) return false;
        ends.set(sender, { last, number: nth + last - seq });
        count += last - seq + 1;
      }
      return follows(open) && count === open.seq;
    },
    has({ id, open }, sender, seq, nth) {
      const isOpen = open?.sender === sender && seq >= open.seq;
      const row = isOpen ? undefined : upTo.get(id, sender, seq);
      const run = isOpen ? open : row !== undefined && row.last >= seq && isSound(id, row) ? row : undefined;
      return run !== undefined && (nth === undefined || run.nth + seq - run.seq === nth);
    },
    drop: (thread) => void drop.run(thread),
  };
}

/** Numbers the entries of one thread anew, from its log; gives the run for its head, where its last entry can be read. */
export function createNumbering(db: DatabaseSync): (thread: number) => OpenRun | undefined {
  const entries = db.prepare<{ seq: number; json: string }>(
    'SELECT seq, json FROM entries WHERE thread = ? ORDER BY seq',
  );
  const counts = createSenderCounts(db);
  return (thread) => {
    counts.drop(thread);
    const runs = new SenderRuns();
    const ended: EndedRun[] = [];
    for (const { seq, json } of entries.iterate(thread)) {
      const run = runs.add(senderIn(json), seq);
      if (run !== undefined) ended.push(run);
    }
    for (const run of ended) counts.put(thread, run);
    return runs.open;
  };
}

/** The runs of one thread, as they grow with its log. */
export class SenderRuns {
  open: OpenRun | undefined;
  /** How many entries each sender has in the runs that have ended, of those who wrote lately. */
  readonly endedBySender = new Map<string, number>();

  constructor(open?: OpenRun) {
    this.open = open;
  }

  /** Takes the next entry, of whom it cannot be read is nobody's; gives the run that ends with it, if one does. */
  add(sender: string | undefined, seq: number): EndedRun | undefined {
    const { open } = this;
    if (open?.sender === sender) return undefined;
    const ended = open === undefined ? undefined : { ...open, last: seq - 1 };
    if (ended !== undefined) this.endedBySender.set(ended.sender, ended.nth + ended.last - ended.seq);
    this.open =
      sender === undefined ? undefined : { sender, seq, nth: (this.endedBySender.get(sender) ?? 0) + 1 };
    return ended;
  }
}

/** Who wrote an entry; undefined where it cannot be read. */
export function senderIn(json: string): string | undefined {
  try {
    return readEntry(json).sender_agent_id;
  } catch {
    return undefined;
  }
}
