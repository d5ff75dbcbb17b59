import type { ThreadState } from '@parley/core';

/** The live state of a thread, put together from its own row and its head. */
export function readState(row: { state: string; last_seq: number; updated_at: string }): ThreadState {
  return { ...(JSON.parse(row.state) as ThreadState), last_seq: row.last_seq, updated_at: row.updated_at };
}
