import {
  type Agent,
  type AgentView,
  type Ask,
  type Caller,
  LIMITS,
  ParleyError,
  type Session,
} from '@parley/protocol';

import { type Deps, operation, stamp } from '../operation.ts';
import { checkThreadScope, journalId } from '../threads/access.ts';
import { mayOverride } from '../threads/status.ts';
import { askAt } from '../asks/rules.ts';
import { lastSeen, standing } from './state.ts';

export const registerAgent = operation('register_agent', {
  authority: 'look',
  async run(deps, caller, { idempotency_key, ...input }) {
    const head = stamp(deps, caller, 'register_agent', idempotency_key);
    const thread_id = journalId(caller.workspace_id, caller.agent_id);
    return (await deps.log.append({ type: 'register_agent', ...head, thread_id, input })).result as never;
  },
});

export const updateAgentStatus = operation('update_agent_status', {
  authority: 'look',
  async run(deps, caller, { idempotency_key, ...input }) {
    const head = stamp(deps, caller, 'agent_status', idempotency_key);
    return (await deps.log.append({ type: 'update_agent_status', ...head, input })).result as never;
  },
});

export const reportEvent = operation('report_event', {
  authority: 'look',
  async run(deps, caller, { thread_id: thread, idempotency_key, ...input }) {
    const thread_id = thread ?? journalId(caller.workspace_id, caller.agent_id);
    checkThreadScope(thread_id, caller);
    deps.messageQuota.spend(caller);
    const head = stamp(deps, caller, `event:${thread_id}`, idempotency_key);
    return (await deps.log.append({ type: 'report_event', ...head, thread_id, input })).result as never;
  },
});

export const listAgents = operation('list_agents', {
  authority: 'look',
  async run(deps, caller, { state }) {
    const agents = await viewAgents(deps, caller.workspace_id);
    return { agents: agents.filter((agent) => state === undefined || agent.state === state) };
  },
});

export const getAgent = operation('get_agent', {
  authority: 'look',
  async run(deps, caller, { of_agent }) {
    const [agent] = await viewAgents(deps, caller.workspace_id, of_agent);
    if (agent === undefined) throw new ParleyError('NOT_FOUND', `no agent ${of_agent} is known here`);
    const { workspace_id } = caller;
    const thread_id = journalId(workspace_id, of_agent);
    const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
    const { located } = await deps.store.page(query);
    return { ...agent, journal_thread_id: located.thread === undefined ? null : thread_id };
  },
});

export const commandAgent = operation('command_agent', {
  authority: 'act',
  async run(deps, caller, input, context) {
    requireCommander(caller);
    return deps.commander.command(caller, input, context);
  },
});

/** Refuses commands from those who only work. */
export function requireCommander(caller: Caller): void {
  if (!mayOverride(caller))
    throw new ParleyError('INSUFFICIENT_AUTHORITY', 'only an operator or orchestrator may command an agent');
}

async function viewAgents(deps: Deps, workspace_id: string, only?: string): Promise<AgentView[]> {
  const all = { workspace_id, limit: LIMITS.records };
  const [agents, sessions, asks] = await Promise.all([
    deps.store.records({ kind: 'agent', ...all, ...(only === undefined ? {} : { prefix: only }) }),
    deps.store.records({ kind: 'session', ...all, ...(only === undefined ? {} : { prefix: `${only} ` }) }),
    deps.store.records({ kind: 'ask', ...all, marks: ['open'] }),
  ]);
  const links = deps.links.of(workspace_id);
  const names = [
    ...new Set([
      ...agents.map(({ agent_id }) => agent_id),
      ...sessions.map(({ agent_id }) => agent_id),
      ...links.keys(),
      ...deps.presence.agents(workspace_id),
    ]),
  ].filter((name) => only === undefined || name === only);
  return Promise.all(
    names.toSorted().map((name) => viewAgent(deps, workspace_id, name, { agents, sessions, asks })),
  );
}

interface Known {
  agents: readonly Agent[];
  sessions: readonly Session[];
  asks: readonly Ask[];
}

async function viewAgent(deps: Deps, workspace_id: string, name: string, known: Known): Promise<AgentView> {
  const now = deps.clock.now();
  const agent = known.agents.find(({ agent_id }) => agent_id === name);
  const sessions = known.sessions.filter(({ agent_id }) => agent_id === name);
  const openAsks = known.asks
    .filter(({ agent_id }) => agent_id === name)
    .filter((ask) => askAt(ask, now).status === 'open');
  const links = deps.links.of(workspace_id).get(name) ?? [];
  const presence = deps.presence.ofAgent(workspace_id, name);
  const { unread, since: unreadSince } = await unreadOf(deps, workspace_id, name);
  const facts = { agent, sessions, presence, links, openAsks, unreadSince };
  const stands = standing(facts, deps.patience, now);
  const { registration, metadata, last_event } = agent ?? {};
  const seen =
    lastSeen(agent, sessions) ?? new Date(presence[0]?.since ?? links[0]?.since ?? now).toISOString();
  return {
    agent_id: name,
    name: registration?.name ?? name,
    type: registration?.type ?? 'custom',
    status: stands.state === 'offline' ? 'offline' : (agent?.status ?? 'online'),
    ...stands,
    last_seen: seen,
    capabilities: agent?.capabilities ?? [],
    connected: links.map(({ how }) => how),
    runtimes: [...new Set(sessions.map(({ runtime }) => runtime))],
    sessions: sessions.length,
    unread,
    open_asks: openAsks.length,
    presence: presence.map(({ thread_id, state, since }) => ({
      thread_id,
      state,
      since: new Date(since).toISOString(),
    })),
    ...(registration?.endpoint === undefined ? {} : { endpoint: registration.endpoint }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(last_event === undefined ? {} : { last_event }),
  };
}

async function unreadOf(deps: Deps, workspace_id: string, agent: string) {
  const { rows } = await deps.store.threads({
    workspace_id,
    participant: agent,
    reader: agent,
    status: undefined,
    unread: true,
    limit: LIMITS.page_default,
    max_bytes: LIMITS.page_bytes,
    before: undefined,
  });
  const open = rows.filter(({ state }) => state.status !== 'closed');
  const oldest = open.at(-1)?.state.updated_at;
  return {
    unread: open.reduce((sum, { state, last_read_seq }) => sum + state.last_seq - last_read_seq, 0),
    since: oldest === undefined ? undefined : Date.parse(oldest),
  };
}
