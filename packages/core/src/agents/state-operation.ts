import { type AgentStretch, type Caller, LIMITS, type OutputOf, ParleyError } from '@parley/protocol';

import { seesAll } from '../asks/find-ask.ts';
import { operation } from '../operation.ts';
import { mayOverride } from '../threads/status.ts';
import type { AgentStateRecord } from './stretch.ts';
import { agentNames, type ViewPorts, withoutId } from './view.ts';

const DAY_MS = 86_400_000;
/** So many stretches of one agent a page holds at most. */
const STRETCHES = 200;

/** What agents were at, an agent at a time: each costs one look into its own history, as far as it is asked for. */
export const listAgentStates = operation('list_agent_states', {
  authority: 'look',
  async run(deps: ViewPorts, caller, { of_agent, limit, after, ...window }) {
    const { workspace_id } = caller;
    // What begins at this very moment is part of it.
    const to = window.until === undefined ? deps.clock.now() + 1 : Date.parse(window.until);
    const from = window.since === undefined ? to - DAY_MS : Date.parse(window.since);
    if (from >= to) throw new ParleyError('VALIDATION_ERROR', '`since` must be before `until`');
    const [since, until] = [new Date(from).toISOString(), new Date(to).toISOString()];
    const names =
      of_agent === undefined
        ? await agentNames(deps, { workspace_id, past: after, limit: limit + 1 })
        : [of_agent];
    const owners = names.slice(0, limit);
    const query = { kind: 'agent_state', workspace_id, owners, descending: true } as const;
    const [within, before] = await Promise.all([
      deps.store.records({ ...query, from: since, past: until, limit: STRETCHES + 1 }),
      deps.store.records({ ...query, past: since, limit: 1 }),
    ]);
    const newestFirst = new Map<string, AgentStateRecord[]>(owners.map((name) => [name, []]));
    for (const state of [...within, ...before.filter((one) => (one.until ?? until) > since)])
      newestFirst.get(state.agent_id)?.push(state);
    const agents: OutputOf<'list_agent_states'>['agents'] = [];
    let bytes = 0;
    for (const agent_id of owners) {
      const known = newestFirst.get(agent_id) ?? [];
      const shown = known.slice(0, STRETCHES);
      const older_than = known.length > STRETCHES ? (shown.at(-1)?.from ?? null) : null;
      const stretches = shown.toReversed().map((state) => shownTo(caller, state));
      const next = { agent_id, stretches, older_than };
      bytes += JSON.stringify(next).length;
      if (agents.length > 0 && bytes > LIMITS.page_bytes)
        return { since, until, agents, next_after: agents.at(-1)?.agent_id ?? null };
      agents.push(next);
    }
    const next_after = names.length > limit ? (names[limit - 1] ?? null) : null;
    return { since, until, agents, next_after };
  },
});

/** What was asked, and what was said in a thread, is for those who may see it there. */
function shownTo(caller: Caller, kept: AgentStateRecord): AgentStretch {
  const { agent_id, state, reason, from: since, until = null, waits_for, thread_id } = kept;
  const isOwn = caller.agent_id === agent_id;
  const seesAsks = isOwn || seesAll(caller);
  const seesThread = isOwn || mayOverride(caller);
  const words =
    waits_for?.ask_id !== undefined && !seesAsks
      ? 'waits for a person'
      : state === 'error' && thread_id !== undefined && !seesThread
        ? 'failed in a thread'
        : reason;
  return {
    state,
    reason: words,
    since,
    until,
    ...(waits_for === undefined ? {} : { waits_for: seesAsks ? waits_for : withoutId(waits_for) }),
    ...(thread_id === undefined || !seesThread ? {} : { thread_id }),
  };
}
