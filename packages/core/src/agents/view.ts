import { type Agent, type AgentView, type Ask, LIMITS } from '@parley/protocol';

import { isOver } from '../asks/rules.ts';
import type { Deps } from '../operation.ts';
import type { KeptSession } from '../records.ts';
import { lastSeen, standing } from './state.ts';
import { unreadOf } from './unread.ts';

interface Known {
  agent: Agent | undefined;
  sessions: KeptSession[];
  asks: Ask[];
}

/** Every agent of a workspace, or the one of a name, listed once however many ways it is known by. */
export async function viewAgents(deps: Deps, workspace_id: string, only?: string): Promise<AgentView[]> {
  const query = { workspace_id, limit: LIMITS.records };
  const [agents, sessions, asks] = await Promise.all([
    deps.store.records({ kind: 'agent', ...query, ...(only === undefined ? {} : { prefix: only }) }),
    deps.store.records({ kind: 'session', ...query, ...(only === undefined ? {} : { prefix: `${only} ` }) }),
    deps.store.records({
      kind: 'ask',
      ...query,
      marks: ['open'],
      ...(only === undefined ? {} : { owner: only }),
    }),
  ]);
  const knownByName = new Map<string, Known>();
  const known = (name: string): Known => {
    const found = knownByName.get(name) ?? { agent: undefined, sessions: [], asks: [] };
    knownByName.set(name, found);
    return found;
  };
  for (const agent of agents) known(agent.agent_id).agent = agent;
  for (const session of sessions) known(session.agent_id).sessions.push(session);
  for (const ask of asks) known(ask.agent_id).asks.push(ask);
  for (const name of deps.links.of(workspace_id).keys()) known(name);
  for (const name of deps.presence.agents(workspace_id)) known(name);
  const wanted = [...knownByName].filter(([name]) => only === undefined || name === only);
  return Promise.all(
    wanted
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, facts]) => viewAgent(deps, workspace_id, name, facts)),
  );
}

async function viewAgent(deps: Deps, workspace_id: string, name: string, known: Known): Promise<AgentView> {
  const { agent, sessions } = known;
  const now = deps.clock.now();
  const openAsks = known.asks.filter((ask) => !isOver(ask, now));
  const links = deps.links.of(workspace_id).get(name) ?? [];
  const presence = deps.presence.ofAgent(workspace_id, name);
  const { unread, since: unreadSince } = await unreadOf(deps, workspace_id, name, now);
  const facts = { agent, sessions, presence, links, openAsks, unreadSince };
  const stands = standing(facts, deps.patience, now);
  const { registration, metadata, last_event, status = 'online' } = agent ?? {};
  const since = presence[0]?.since ?? links[0]?.since ?? now;
  return {
    agent_id: name,
    name: registration?.name ?? name,
    type: registration?.type ?? 'custom',
    // Who is heard of again after it took leave is back.
    status: stands.state === 'offline' ? 'offline' : status === 'offline' ? 'online' : status,
    ...stands,
    last_seen: lastSeen(facts) ?? new Date(since).toISOString(),
    capabilities: agent?.capabilities ?? [],
    connected: links.map(({ how }) => how),
    runtimes: [...new Set(sessions.map(({ runtime }) => runtime))],
    sessions: sessions.length,
    unread,
    open_asks: openAsks.length,
    presence: presence.map((one) => ({
      thread_id: one.thread_id,
      state: one.state,
      since: new Date(one.since).toISOString(),
    })),
    ...(registration?.endpoint === undefined ? {} : { endpoint: registration.endpoint }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(last_event === undefined ? {} : { last_event }),
  };
}
