import { type Agent, type AgentView, type Ask, type Caller, LIMITS } from '@parley/protocol';

import { seesAll } from '../asks/find-ask.ts';
import { isOver } from '../asks/rules.ts';
import type { Deps } from '../operation.ts';
import type { KeptSession } from '../records.ts';
import { findThread } from '../threads/find-thread.ts';
import { mayOverride } from '../threads/status.ts';
import { lastSeen, standing } from './state.ts';
import { unreadOf } from './unread.ts';

interface Known {
  agent: Agent | undefined;
  sessions: KeptSession[];
  asks: Ask[];
}

/** Every agent of the viewer's workspace, or the one of a name, listed once however many ways it is known by. */
export async function viewAgents(deps: Deps, viewer: Caller, only?: string): Promise<AgentView[]> {
  const { workspace_id } = viewer;
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
  const views = await Promise.all(
    wanted
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, facts]) => viewAgent(deps, viewer, name, facts)),
  );
  return withReadablePresence(deps, viewer, views);
}

async function viewAgent(deps: Deps, viewer: Caller, name: string, known: Known): Promise<AgentView> {
  const { workspace_id } = viewer;
  const { sessions } = known;
  const isOwn = viewer.agent_id === name;
  const agent = isOwn || mayOverride(viewer) ? known.agent : known.agent && withoutPrivateEvent(known.agent);
  const now = deps.clock.now();
  const open = known.asks.filter((ask) => !isOver(ask, now));
  const openAsks = isOwn || seesAll(viewer) ? open : open.map(withoutWords);
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
    ...(last_event === undefined ? {} : { last_event: shown(last_event) }),
  };
}

type LastEvent = NonNullable<Agent['last_event']>;

function shown({ event_type, text, at }: LastEvent): NonNullable<AgentView['last_event']> {
  return { event_type, text, at };
}

/** That there is an ask may be seen by those who may not see what is asked. */
function withoutWords({ command: _command, ...ask }: Ask): Ask {
  return { ...ask, prompt: 'waits for a person' };
}

/** What was said in a thread is for those who may read it there. */
function withoutPrivateEvent(agent: Agent): Agent {
  const { last_event } = agent;
  if (last_event?.thread_id === undefined) return agent;
  return { ...agent, last_event: { ...last_event, text: last_event.event_type } };
}

/** Who is in which thread is for those who may read it. */
async function withReadablePresence(
  deps: Deps,
  viewer: Caller,
  views: readonly AgentView[],
): Promise<AgentView[]> {
  if (mayOverride(viewer)) return [...views];
  const threads = new Set(views.flatMap(({ presence }) => presence.map(({ thread_id }) => thread_id)));
  const readable = new Set<string>();
  await Promise.all(
    [...threads].map((id) =>
      findThread(deps, viewer, id).then(
        () => void readable.add(id),
        () => {},
      ),
    ),
  );
  return views.map((view) => ({
    ...view,
    presence: view.presence.filter(({ thread_id }) => readable.has(thread_id)),
  }));
}
