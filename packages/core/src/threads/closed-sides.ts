import { LIMITS, type Thread } from '@parley/protocol';

import type { Ports } from '../ports.ts';

/** How many closed side channels a thread lists, the newest; its log tells of all. */
const MAX_CLOSED = 50;

/** A thread with its closed side channels after the open ones: all of the thread may read both. */
export async function withClosedSides<T extends Thread>(
  { store }: Pick<Ports, 'store'>,
  thread: T,
): Promise<T> {
  const { thread_id, workspace_id, side_of, side_channels = [] } = thread;
  if (side_of !== undefined) return thread;
  const { rows } = await store.threads({
    workspace_id,
    participant: undefined,
    reader: '',
    status: 'closed',
    side_of: thread_id,
    unread: false,
    limit: MAX_CLOSED,
    max_bytes: LIMITS.page_bytes,
    before: undefined,
  });
  if (rows.length === 0) return thread;
  const closed = rows.map(({ state }) => ({
    thread_id: state.thread_id,
    title: state.title,
    owner: state.created_by,
    opened_at: state.created_at,
    closed_at: state.updated_at,
  }));
  return { ...thread, side_channels: [...side_channels, ...closed] };
}
