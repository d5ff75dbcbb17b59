import type { Reading } from '../store.ts';
import type { ThreadState } from './state.ts';

/** How many entries of others a reader has not acknowledged. */
export function unreadFor({ last_seq }: ThreadState, { last_read_seq, own }: Reading): number {
  return Math.max(0, last_seq - last_read_seq - own);
}
