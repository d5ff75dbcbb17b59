import { type Agent, type AgentView, type Ask, type Caller, LIMITS, type WaitsFor } from '@parley/protocol';

import { seesAll } from '../asks/find-ask.ts';
import { isOver } from '../asks/rules.ts';
import type { AgentPorts, AskPorts, ConversationPorts, MessagePorts, RecordPorts } from '../ports.ts';
import type { StoredSession } from '../sessions/stored-session.ts';
import type { AgentsQuery } from '../store.ts';
import { findThread } from '../threads/find-thread.ts';
import { mayOverride } from '../threads/status.ts';
import { openFailure } from './failure.ts';
import { lastSeen, otherwise, standing } from './state.ts';
import type { Unread } from './unread.ts';

/** What is known of agents stands in many places. */
export type ViewPorts = RecordPorts & MessagePorts & ConversationPorts & AgentPorts & AskPorts;

interface Known {
  agent: Agent | undefined;
  sessions: StoredSession[];
  asks: Ask[];
  /** When the newest of its asks that are over ended. */
  askEnded: number | undefined;
  unread: Unread;
}

const NOTHING_UNREAD: Unread = { unread: 0, since: undefined, threads: [] };

/** How many sessions of one agent are looked at and counted, those that were heard last. */
const SESSIONS = 100;

/**
 * The names of the agents of a workspace in their order, each once however many ways it is known by: who is on record,
 * and who is connected or present without it.
 */
export async function agentNames(
  { store, links, presence }: Pick<ViewPorts, 'store' | 'links' | 'presence'>,
  { workspace_id, past, limit }: AgentsQuery,
): Promise<string[]> {
  const kept = await store.agents({ workspace_id, past, limit });
  const last = kept.length < limit ? undefined : kept.at(-1);
  const isWanted = (name: string): boolean =>
    (past === undefined || name > past) && (last === undefined || name < last);
  const names = new Set(kept);
  for (const name of links.of(workspace_id).keys()) if (isWanted(name)) names.add(name);
  for (const name of presence.agents(workspace_id)) if (isWanted(name)) names.add(name);
  return [...names].toSorted((a, b) => (a < b ? -1 : 1)).slice(0, limit);
}

/** The agents of these names, in their order; nobody of whom nothing is known. */
export async function viewAgents(
  deps: ViewPorts,
  viewer: Caller,
  names: readonly string[],
): Promise<AgentView[]> {
  const { workspace_id } = viewer;
  const [agents, sessions, asks, ended, unreads] = await Promise.all([
    deps.store.records({ kind: 'agent', workspace_id, keys: names, limit: names.length }),
    deps.store.records({ kind: 'session', workspace_id, owners: names, heard_last: true, limit: SESSIONS }),
    openAsks(deps, workspace_id, names),
    deps.store.records({
      kind: 'ask',
      workspace_id,
      owners: names,
      marks: ['answering', 'resolved'],
      descending: true,
      limit: 1,
    }),
    Promise.all(names.map((name) => deps.unread.of(workspace_id, name))),
  ]);
  const knownByName = new Map<string, Known>(
    names.map((name, i) => {
      const unread = unreads[i] ?? NOTHING_UNREAD;
      return [name, { agent: undefined, sessions: [], asks: [], askEnded: undefined, unread }];
    }),
  );
  for (const agent of agents) {
    const known = knownByName.get(agent.agent_id);
    if (known !== undefined) known.agent = agent;
  }
  for (const ask of ended) {
    const known = knownByName.get(ask.agent_id);
    if (known !== undefined) known.askEnded = endOf(ask);
  }
  for (const session of sessions) knownByName.get(session.agent_id)?.sessions.push(session);
  for (const ask of asks) knownByName.get(ask.agent_id)?.asks.push(ask);
  const isKnown = (name: string, { agent, sessions: own, asks: open }: Known): boolean =>
    agent !== undefined ||
    own.length > 0 ||
    open.length > 0 ||
    deps.links.of(workspace_id).has(name) ||
    deps.presence.agents(workspace_id).includes(name);
  const views = [...knownByName]
    .filter(([name, facts]) => isKnown(name, facts))
    .map(([name, facts]) => viewAgent(deps, viewer, name, facts));
  return withReadablePresence(deps, viewer, views);
}

/** All agents of the viewer's workspace, a page at a time. */
export async function* everyAgent(deps: ViewPorts, viewer: Caller): AsyncGenerator<AgentView> {
  const { workspace_id } = viewer;
  const limit = LIMITS.page_default;
  let past: string | undefined;
  do {
    const names = await agentNames(deps, { workspace_id, past, limit });
    yield* await viewAgents(deps, viewer, names);
    past = names.length < limit ? undefined : names.at(-1);
  } while (past !== undefined);
}

/** The asks of these agents that wait for a person, as people read them. */
async function openAsks(deps: ViewPorts, workspace_id: string, owners: readonly string[]): Promise<Ask[]> {
  const query = { kind: 'ask', workspace_id, owners, marks: ['open'], limit: LIMITS.open_asks } as const;
  const now = deps.clock.now();
  return deps.asks.shown((await deps.store.records(query)).filter((ask) => !isOver(ask, now)));
}

function viewAgent(deps: ViewPorts, viewer: Caller, name: string, known: Known): AgentView {
  const { workspace_id } = viewer;
  const { sessions } = known;
  const isOwn = viewer.agent_id === name;
  const agent = isOwn || mayOverride(viewer) ? known.agent : known.agent && withoutPrivateEvent(known.agent);
  const now = deps.clock.now();
  const seesAsks = isOwn || seesAll(viewer);
  const asks = seesAsks ? known.asks : known.asks.map(withoutWords);
  const links = deps.links.of(workspace_id).get(name) ?? [];
  const presence = deps.presence.ofAgent(workspace_id, name);
  const { unread, since: unreadSince } = known.unread;
  const askEnded = unreadSince === undefined ? undefined : known.askEnded;
  const facts = { agent, sessions, presence, links, openAsks: asks, unreadSince, askEnded };
  const { waits_for, ...stands } = standing(facts, deps.patience, now);
  const meanwhile = stands.state === 'error' ? otherwise(facts, deps.patience, now) : stands;
  const failure = openFailure(agent);
  const { registration, metadata, last_event, status = 'online' } = agent ?? {};
  const since = presence[0]?.since ?? links[0]?.since ?? now;
  return {
    agent_id: name,
    name: registration?.name ?? name,
    type: registration?.type ?? 'custom',
    // Who is heard of again after it took leave is back.
    status: meanwhile.state === 'offline' ? 'offline' : status === 'offline' ? 'online' : status,
    ...stands,
    ...(waits_for === undefined ? {} : { waits_for: seesAsks ? waits_for : withoutId(waits_for) }),
    last_seen: lastSeen(facts) ?? new Date(since).toISOString(),
    capabilities: agent?.capabilities ?? [],
    connected: links.map(({ how }) => how),
    runtimes: [...new Set(sessions.map(({ runtime }) => runtime))],
    sessions: sessions.length,
    unread,
    open_asks: asks.length,
    presence: presence.map((one) => ({
      thread_id: one.thread_id,
      state: one.state,
      since: new Date(one.since).toISOString(),
    })),
    ...(registration?.endpoint === undefined ? {} : { endpoint: registration.endpoint }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(agent?.instances === undefined ? {} : { instances: agent.instances }),
    ...(last_event === undefined ? {} : { last_event: shown(last_event) }),
    ...(failure === undefined ? {} : { failure }),
    ...(stands.state === 'error' ? { meanwhile } : {}),
  };
}

/** When an ask that is over ended. */
function endOf(ask: Ask): number | undefined {
  const at = ask.resolved_at ?? ask.verdict?.at;
  return at === undefined ? undefined : Date.parse(at);
}

type LastEvent = NonNullable<Agent['last_event']>;

function shown({ event_type, text, at }: LastEvent): NonNullable<AgentView['last_event']> {
  return { event_type, text, at };
}

/** That there is an ask may be seen by those who may not see what is asked. */
function withoutWords({ command: _command, ...ask }: Ask): Ask {
  return { ...ask, prompt: 'waits for a person' };
}

/** What an agent waits for, without what leads to the words of it. */
export function withoutId({ ask_id: _ask, ...rest }: WaitsFor): WaitsFor {
  return rest;
}

/** What was said in a thread is for those who may read it there. */
function withoutPrivateEvent(agent: Agent): Agent {
  const { last_event, failure } = agent;
  return {
    ...agent,
    ...(last_event?.thread_id === undefined
      ? {}
      : {
          last_event: { event_type: last_event.event_type, text: last_event.event_type, at: last_event.at },
        }),
    ...(failure?.thread_id === undefined ? {} : { failure: { at: failure.at, text: 'failed in a thread' } }),
  };
}

/** Who is in which thread is for those who may read it. */
async function withReadablePresence(
  deps: RecordPorts,
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
