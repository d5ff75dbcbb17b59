import { CHAIN_START, createThreadFold, type Entry, link, type ThreadFold, readEntry } from '@parley/core';
import { seqOfMessageId } from '@parley/protocol';

import type { SenderCounts } from './sender-counts.ts';
import type { DatabaseSync } from './sqlite.ts';

/** A thread as its log tells it. */
export interface FoldedThread {
  fold: ThreadFold;
  /** The hash of its last sound entry. */
  head: string;
  /** How many sound entries it has, counted from its creation. */
  length: number;
  /** What is wrong with its log. */
  broken: string | undefined;
  /** Entries that are indexed as replies to another than they are. */
  misfiled: { pos: number; seq: number; replyTo: number | null }[];
  /** Entries that are not numbered as they are among those of their sender. */
  misnumbered: number[];
}

interface Row {
  pos: number;
  seq: number;
  reply_to: number | null;
  hash: string;
  json: string;
}

/** Reads threads from the log alone, each as far as its hash chain holds; with `counts` the numbers are held against it. */
export function createThreadReader(
  db: DatabaseSync,
  counts?: SenderCounts,
  seen?: () => void,
): (thread: number) => FoldedThread {
  const entries = db.prepare<Row>(
    'SELECT pos, seq, reply_to, hash, json FROM entries WHERE thread = ? ORDER BY seq',
  );
  return (thread) => {
    const read: FoldedThread = {
      fold: createThreadFold(),
      head: CHAIN_START,
      length: 0,
      broken: undefined,
      misfiled: [],
      misnumbered: [],
    };
    const numbered = { id: thread, open: counts?.open(thread) };
    const nthBySender = new Map<string, number>();
    for (const { pos, seq, reply_to, hash, json } of entries.iterate(thread)) {
      if (seq !== read.length || link(read.head, json) !== hash) {
        read.broken = `the chain breaks at seq ${read.length}${seq === read.length ? '' : ` (found ${seq})`}`;
        break;
      }
      const entry = readEntry(json);
      const replyTo = replyOf(entry);
      if (reply_to !== replyTo) read.misfiled.push({ pos, seq, replyTo });
      const { sender_agent_id: sender } = entry;
      const nth = (nthBySender.get(sender) ?? 0) + 1;
      nthBySender.set(sender, nth);
      if (counts?.has(numbered, sender, seq, nth) === false) read.misnumbered.push(seq);
      read.fold.see(entry);
      read.head = hash;
      read.length++;
      seen?.();
    }
    return read;
  };
}

/** The seq that a message replies to, by which its replies are found. */
export function replyOf({ in_reply_to }: Entry): number | null {
  return in_reply_to === undefined ? null : (seqOfMessageId(in_reply_to) ?? null);
}
