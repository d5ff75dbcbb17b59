import { LIMITS } from '@parley/protocol';

import type { Chance, Clock } from './clock.ts';
import { commandHead } from './command-head.ts';
import { hubCaller, OWN_WORKSPACE } from './hub-caller.ts';
import type { Positions } from './log-follower.ts';
import { placeKey } from './records.ts';
import type { Store } from './store.ts';

/** How many places are written in one transaction. */
const SAVED_AT_ONCE = 500;

/**
 * Positions among the hub's own records, for those whose doings stand in the store. They are written now and then: after a
 * crash some entries are looked at twice.
 */
export function createLogPositions(
  deps: { store: Pick<Store, 'records' | 'transact'>; clock: Clock; chance: Chance },
  name: string,
): Positions {
  const { store } = deps;
  const posByWorkspace = new Map<string, number>();
  const unsaved = new Set<string>();

  const hasLooked = (): boolean => posByWorkspace.has(OWN_WORKSPACE);

  function moved(workspaceId: string, pos: number): void {
    if (pos === posByWorkspace.get(workspaceId)) return;
    posByWorkspace.set(workspaceId, pos);
    unsaved.add(workspaceId);
  }

  return {
    async begin() {
      // What was read once is known better here than there.
      if (hasLooked()) return;
      const query = { kind: 'follower', workspace_id: OWN_WORKSPACE, prefix: placeKey(name, '') } as const;
      for (let past = placeKey(name, ''); ;) {
        const kept = await store.records({ ...query, past, limit: LIMITS.page_max });
        for (const { workspace_id, pos } of kept) posByWorkspace.set(workspace_id, pos);
        const last = kept.at(-1);
        if (last === undefined) return;
        past = placeKey(name, last.workspace_id);
      }
    },
    /** Where it has never looked it begins now; a workspace that came since then it looks at from its first entry on. */
    async of(workspaceId, head) {
      if (!hasLooked()) moved(workspaceId, head);
      return posByWorkspace.get(workspaceId) ?? 0;
    },
    begun() {
      // Written after all others, so that a workspace without a place is new once this one is there.
      if (!hasLooked()) moved(OWN_WORKSPACE, 0);
    },
    moved,
    async save() {
      while (unsaved.size > 0) {
        const places = [...unsaved].slice(0, SAVED_AT_ONCE).map((workspace_id) => ({
          workspace_id,
          pos: posByWorkspace.get(workspace_id) ?? 0,
        }));
        const head = commandHead(deps, hubCaller(OWN_WORKSPACE));
        await store.transact({ type: 'note_follower', ...head, input: { name, places } });
        for (const { workspace_id, pos } of places)
          if (posByWorkspace.get(workspace_id) === pos) unsaved.delete(workspace_id);
      }
    },
  };
}
