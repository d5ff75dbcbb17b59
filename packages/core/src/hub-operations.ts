import { LIMITS } from '@parley/protocol';

import { requirePerson } from './devices/operations.ts';
import { operation } from './operation.ts';
import { toEvent } from './participation/to-event.ts';
import type { WorkspacePage } from './store.ts';
import { mayOverride } from './threads/status.ts';

/** How many stretches of the hub's log one page looks through: other workspaces have their entries in between. */
const STRETCHES = 20;

export const readLog = operation('read_log', {
  authority: 'look',
  async run(deps, caller, { before, limit }) {
    const { workspace_id, agent_id } = caller;
    const participant = mayOverride(caller) ? undefined : agent_id;
    let end = before ?? (await deps.store.position()) + 1;
    const found: WorkspacePage['rows'] = [];
    for (let i = 0; i < STRETCHES && end > 1 && found.length < limit; i++) {
      const after = Math.max(0, end - 1 - LIMITS.page_max);
      const query = { workspace_id, participant, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes };
      const rows: WorkspacePage['rows'] = [];
      let from = after;
      for (;;) {
        const page = await deps.store.workspace({ ...query, after: from });
        rows.push(...page.rows.filter(({ pos }) => pos < end));
        from = page.next;
        if (!page.has_more || from >= end - 1) break;
      }
      found.push(...rows.toReversed());
      end = after + 1;
    }
    const shown = found.slice(0, limit);
    const last = shown.length < found.length ? shown.at(-1)?.pos : end;
    return {
      entries: shown.map(({ pos, entry }) => ({ pos, event: { ...toEvent(entry) } })),
      next_before: last === undefined || last <= 1 ? null : last,
    };
  },
});

export const describeHub = operation('describe_hub', {
  authority: 'look',
  async run(deps, caller) {
    requirePerson(caller);
    const { version, started_at, keys, event_loop, clock } = deps.about();
    const { writable, reason, rebuilt = [] } = deps.store.health();
    const { entries: behind, since } = await deps.store.searchLag();
    const lag_ms = since === undefined ? 0 : Math.max(0, deps.clock.now() - Date.parse(since));
    return {
      version,
      started_at,
      // A key for one workspace is nobody else's concern.
      keys: keys.filter(({ workspace = caller.workspace_id }) => workspace === caller.workspace_id),
      event_loop,
      writable,
      rebuilt,
      ...(reason === undefined ? {} : { trouble: reason }),
      search: { behind, lag_ms },
      clock,
      position: await deps.store.position(),
      connections: [...deps.links.of(caller.workspace_id).values()].flat().length,
    };
  },
});
