import { LIMITS } from '@parley/protocol';

import type { Store } from '../store.ts';

/** How many asks are open in each workspace, for whoever runs the hub; of very many the first are counted. */
export async function countOpenAsks(
  store: Pick<Store, 'records'>,
): Promise<{ workspace_id: string; open: number }[]> {
  const asks = await store.records({
    kind: 'ask',
    workspace_id: undefined,
    marks: ['open'],
    limit: LIMITS.page_max,
  });
  const counts = new Map<string, number>();
  for (const { workspace_id } of asks) counts.set(workspace_id, (counts.get(workspace_id) ?? 0) + 1);
  return [...counts].map(([workspace_id, open]) => ({ workspace_id, open }));
}
