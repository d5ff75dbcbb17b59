import type { Caller } from '@parley/protocol';

import type { Deps } from '../operation.ts';
import { admitReader, checkThreadScope } from './access.ts';
import type { ThreadState } from './state.ts';

/** A thread without its entries, if the caller may see it. */
export async function findThread({ store }: Deps, caller: Caller, thread_id: string): Promise<ThreadState> {
  checkThreadScope(thread_id, caller);
  const { located } = await store.page({
    workspace_id: caller.workspace_id,
    thread_id,
    after: 0,
    limit: 0,
    max_bytes: 0,
  });
  return admitReader(located, caller);
}
