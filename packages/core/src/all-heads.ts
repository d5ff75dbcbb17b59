import { LIMITS } from '@parley/protocol';

import type { Store, WorkspaceHead } from './store.ts';

/** The workspaces that have a log, each with how far it has come, a page at a time. */
export async function* allHeads(store: Pick<Store, 'heads'>): AsyncGenerator<WorkspaceHead> {
  for (let past = ''; ;) {
    const page = await store.heads({ past, limit: LIMITS.page_max });
    yield* page;
    if (page.length < LIMITS.page_max) return;
    past = page.at(-1)?.workspace_id ?? past;
  }
}
