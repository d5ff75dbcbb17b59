import type { Caller } from '@parley/protocol';

import type { RecordPorts } from '../ports.ts';
import { admitReader, checkThreadScope, type Located } from './access.ts';
import type { ThreadState } from './state.ts';

/** A thread without its entries, if the caller may see it. */
export async function findThread(deps: RecordPorts, caller: Caller, thread_id: string): Promise<ThreadState> {
  return (await locateThread(deps, caller, thread_id)).thread;
}

/** The same, and with a side channel its main thread. */
export async function locateThread(
  { store }: RecordPorts,
  caller: Caller,
  thread_id: string,
): Promise<Extract<Located, { thread: ThreadState }>> {
  checkThreadScope(thread_id, caller);
  const { workspace_id } = caller;
  const { located } = await store.page({ workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 });
  const thread = admitReader(located, caller);
  return { ...located, thread };
}
