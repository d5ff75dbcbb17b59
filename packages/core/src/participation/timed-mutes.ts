import type { PutRecord } from '../records.ts';
import type { ThreadState } from '../threads/state.ts';

/** When the next mute of a thread ends, as it is kept; undefined where none ends by itself. */
export function putTimedMutes({ workspace_id, thread_id, conversation }: ThreadState): PutRecord | undefined {
  const { muted_until } = conversation ?? {};
  if (muted_until === undefined) return undefined;
  // All are ISO times of one form, so that the order of words is that of time.
  const next = Object.values(muted_until).toSorted()[0] ?? '';
  const value = { workspace_id, thread_id, next };
  return { kind: 'mutes', workspace_id, key: thread_id, mark: 'timed', owner: '', value };
}
