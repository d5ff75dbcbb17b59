import { CHAIN_START, createThreadFold, type Entry, link, type ThreadFold } from '@parley/core';
import { seqOfMessageId } from '@parley/protocol';

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
}

interface Row {
  pos: number;
  seq: number;
  reply_to: number | null;
  hash: string;
  json: string;
}

/** Reads threads from the log alone, each as far as its hash chain holds. */
export function createThreadReader(db: DatabaseSync): (thread: number) => FoldedThread {
  const entries = db.prepare(
    'SELECT pos, seq, reply_to, hash, json FROM entries WHERE thread = ? ORDER BY seq',
  );
  return (thread) => {
    const read: FoldedThread = {
      fold: createThreadFold(),
      head: CHAIN_START,
      length: 0,
      broken: undefined,
      misfiled: [],
    };
    for (const { pos, seq, reply_to, hash, json } of entries.iterate(thread) as unknown as Iterable<Row>) {
      if (seq !== read.length || link(read.head, json) !== hash) {
        read.broken = `the chain breaks at seq ${read.length}${seq === read.length ? '' : ` (found ${seq})`}`;
        break;
      }
      const entry = JSON.parse(json) as Entry;
      const replyTo = replyOf(entry);
      if (reply_to !== replyTo) read.misfiled.push({ pos, seq, replyTo });
      read.fold.see(entry);
      read.head = hash;
      read.length++;
    }
    return read;
  };
}

/** The seq that a message replies to, by which its replies are found. */
export function replyOf({ in_reply_to }: Entry): number | null {
  return in_reply_to === undefined ? null : (seqOfMessageId(in_reply_to) ?? null);
}
