import { CHAIN_START, type Entry, link, readEntry } from '@parley/core';

import { damagedEntry } from './row-sum.ts';

/** An entry as it stands in its row. */
export interface ChainedRow {
  seq: number;
  hash: string;
  json: string;
}

/** An entry with the hash before it, which is all it takes to check it alone. */
export interface LinkedRow extends ChainedRow {
  thread_id: string;
  before: string | null;
}

/** The entry of a row, if it is what its hash chain says. */
export function checkedEntry({ thread_id, seq, before, hash, json }: LinkedRow): Entry {
  if (link(before ?? CHAIN_START, json) !== hash) throw damagedEntry(thread_id, seq);
  return readEntry(json);
}

/** A run of a thread's entries, each checked against the one before it: `found` begins with the one at `after`. */
export function checkedRun(
  threadId: string,
  found: readonly ChainedRow[],
  { after, count, max_bytes }: { after: number; count: number; max_bytes: number },
): Entry[] {
  // Before the thread's creation stands nothing.
  const rows = after < 0 ? [undefined, ...found] : found;
  const entries: Entry[] = [];
  let bytes = 0;
  for (let i = 1; i <= count; i++) {
    const row = rows[i];
    const seq = after + i;
    if (row?.seq !== seq || link(rows[i - 1]?.hash ?? CHAIN_START, row.json) !== row.hash)
      throw damagedEntry(threadId, seq);
    bytes += row.json.length;
    if (i > 1 && bytes > max_bytes) break;
    entries.push(readEntry(row.json));
  }
  return entries;
}
