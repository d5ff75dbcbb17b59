import { LIMITS } from '@parley/protocol';

import { requirePerson } from './devices/operations.ts';
import { operation } from './operation.ts';
import type { About, AboutPorts, AgentPorts, MessagePorts, RecordPorts } from './ports.ts';
import { toEvent } from './participation/to-event.ts';
import type { WorkspacePage } from './store.ts';
import { mayOverride } from './threads/status.ts';

/** How many stretches of the log one page looks through: what the caller may not read stands in between. */
const STRETCHES = 20;

const whoami = operation('whoami', {
  authority: 'look',
  async run(deps: RecordPorts & MessagePorts & AboutPorts, caller) {
    const { agent_id, workspace_id, role, session_id, read_only = false } = caller;
    const { unread } = await deps.unread.of(workspace_id, agent_id);
    const hub = { version: deps.about().version, now: new Date(deps.clock.now()).toISOString() };
    return { agent_id, workspace_id, role, session_id, read_only, unread, hub };
  },
});

const readLog = operation('read_log', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { before, limit }) {
    const { workspace_id, agent_id } = caller;
    const participant = mayOverride(caller) ? undefined : agent_id;
    let end = before ?? (await deps.store.position(workspace_id)) + 1;
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

const describeHub = operation('describe_hub', {
  authority: 'look',
  async run(deps: RecordPorts & AgentPorts & AboutPorts, caller) {
    requirePerson(caller);
    const { version, started_at, keys, event_loop, clock, nodes } = deps.about();
    const { writable, reason, rebuilt = [] } = deps.store.health();
    const { entries: behind, since } = await deps.store.searchLag(caller.workspace_id);
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
      ...(nodes === undefined ? {} : { nodes: describeNodes(nodes) }),
      position: await deps.store.position(caller.workspace_id),
      connections: [...deps.links.of(caller.workspace_id).values()].flat().length,
    };
  },
});

function describeNodes({ how: by, connected, reason, others }: NonNullable<About['nodes']>) {
  return { by, connected, others, ...(reason === undefined ? {} : { trouble: reason }) };
}

/** By name: the table of operations takes them from here. */
export const hubOperations = {
  whoami,
  read_log: readLog,
  describe_hub: describeHub,
};
