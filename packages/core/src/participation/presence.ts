import type { PresenceState, Profile } from '@parley/protocol';

import type { Clock } from '../clock.ts';

/** How somebody is present in a thread; gone by itself after its time. */
export interface Presence {
  thread_id: string;
  agent_id: string;
  workspace_id: string;
  state: PresenceState;
  /** When this state began. */
  since: number;
  profile?: Profile;
  /** Whom it is for, where it is for one. */
  to?: string | undefined;
  in_reply_to?: string | undefined;
  tags?: string[] | undefined;
}

/** Somebody with an open connection: in one thread, or in all of a workspace. */
interface Connected {
  workspace_id: string;
  agent_id: string;
  thread_id?: string;
}

/** Who is where, in memory only; times are the hub's own and no client's. */
export interface PresenceBoard {
  /** Somebody says how it is present; `since` is given where another node was told of it first. */
  set(
    presence: Omit<Presence, 'since'> & { since?: number },
    ttlMs: number,
  ): { since: number; before: PresenceState };
  /** Somebody keeps a connection open until the answer is called: who says nothing of it is listening. */
  connect(name: Connected, since?: number): () => void;
  /** Since when somebody has a connection open, of any kind. */
  connectedSince(workspaceId: string, agentId: string): number | undefined;
  /** Those present in a thread now, by agent: what they say of themselves, else that they listen. */
  of(threadId: string): ReadonlyMap<string, Presence>;
  /** Where an agent is present now. */
  ofAgent(workspaceId: string, agentId: string): Presence[];
  /** Who is present where in a workspace. */
  everybody(workspaceId: string): Presence[];
  /** Everybody who says to be present somewhere in a workspace. */
  agents(workspaceId: string): string[];
  /** What was said here is known wherever else the hub is asked. */
  settled(): Promise<void>;
  /** Hears of every change, the fading ones too; the answer ends it. */
  watch(listener: (presence: Presence) => void): () => void;
  close(): void;
}

interface Held extends Presence {
  until: number;
}

const SWEEP_MS = 500;

/** The board of one process. */
export function createPresenceBoard(clock: Clock): PresenceBoard {
  const byThread = new Map<string, Map<string, Held>>();
  /** Who has streams of a thread open, and how many. */
  const openByThread = new Map<string, Map<string, { presence: Presence; count: number }>>();
  /** In which threads each agent of a workspace is, by one or the other. */
  const threadsByAgent = new Map<string, Map<string, Set<string>>>();
  const openByAgent = new Map<string, { since: number; count: number }>();
  const listeners = new Set<(presence: Presence) => void>();
  let timer: NodeJS.Timeout | undefined;

  function tell(presence: Presence): void {
    for (const listener of listeners) listener(presence);
  }

  function enter({ workspace_id, agent_id, thread_id }: Presence): void {
    const agents = threadsByAgent.get(workspace_id) ?? new Map<string, Set<string>>();
    threadsByAgent.set(workspace_id, agents);
    agents.set(agent_id, (agents.get(agent_id) ?? new Set()).add(thread_id));
  }

  /** Forgets where an agent was, unless it is there by the other way. */
  function exit({ workspace_id, agent_id, thread_id }: Presence): void {
    if (byThread.get(thread_id)?.has(agent_id) || openByThread.get(thread_id)?.has(agent_id)) return;
    const agents = threadsByAgent.get(workspace_id);
    const threads = agents?.get(agent_id);
    threads?.delete(thread_id);
    if (threads?.size === 0) agents?.delete(agent_id);
    if (agents?.size === 0) threadsByAgent.delete(workspace_id);
  }

  function drop(held: Held): void {
    const agents = byThread.get(held.thread_id);
    agents?.delete(held.agent_id);
    if (agents?.size === 0) byThread.delete(held.thread_id);
    exit(held);
    const open = openByThread.get(held.thread_id)?.get(held.agent_id)?.presence;
    const { until: _until, ...presence } = held;
    tell(open === undefined ? { ...presence, state: 'offline', since: clock.now() } : open);
  }

  function sweep(): void {
    const now = clock.monotonic();
    for (const agents of byThread.values()) {
      for (const held of agents.values()) if (held.until <= now) drop(held);
    }
    if (byThread.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  function live(threadId: string): Map<string, Held> {
    const now = clock.monotonic();
    const agents = byThread.get(threadId) ?? new Map<string, Held>();
    return new Map([...agents].filter(([, held]) => held.until > now));
  }

  function present(threadId: string): Map<string, Presence> {
    const open = [...(openByThread.get(threadId) ?? [])].map(
      ([agent, own]) => [agent, own.presence] as const,
    );
    return new Map<string, Presence>([...open, ...live(threadId)]);
  }

  function heldBy(threadId: string, agentId: string): Held | undefined {
    const one = byThread.get(threadId)?.get(agentId);
    return one !== undefined && one.until > clock.monotonic() ? one : undefined;
  }

  function ofAgent(workspaceId: string, agentId: string): Presence[] {
    return [...(threadsByAgent.get(workspaceId)?.get(agentId) ?? [])].flatMap((threadId) => {
      const one = heldBy(threadId, agentId) ?? openByThread.get(threadId)?.get(agentId)?.presence;
      return one === undefined || one.workspace_id !== workspaceId ? [] : [one];
    });
  }

  function agentsOf(workspaceId: string): string[] {
    return [...(threadsByAgent.get(workspaceId)?.keys() ?? [])];
  }

  function openStream(presence: Presence): () => void {
    const { thread_id, agent_id } = presence;
    const agents = openByThread.get(thread_id) ?? new Map<string, { presence: Presence; count: number }>();
    openByThread.set(thread_id, agents);
    const own = agents.get(agent_id) ?? { presence, count: 0 };
    // Another node may tell later of one that was open before.
    if (presence.since < own.presence.since) own.presence = presence;
    agents.set(agent_id, own);
    enter(presence);
    if (own.count++ === 0 && !live(thread_id).has(agent_id)) tell(presence);
    return () => {
      if (--own.count > 0) return;
      agents.delete(agent_id);
      if (agents.size === 0) openByThread.delete(thread_id);
      exit(presence);
      if (!live(thread_id).has(agent_id)) tell({ ...presence, state: 'offline', since: clock.now() });
    };
  }

  return {
    connect({ workspace_id, agent_id, thread_id }, since = clock.now()) {
      if (thread_id !== undefined)
        return openStream({ thread_id, agent_id, workspace_id, state: 'listening', since });
      const key = `${workspace_id} ${agent_id}`;
      const own = openByAgent.get(key) ?? { since, count: 0 };
      own.since = Math.min(own.since, since);
      openByAgent.set(key, own);
      own.count++;
      return () => {
        if (--own.count === 0) openByAgent.delete(key);
      };
    },
    connectedSince: (workspaceId, agentId) => openByAgent.get(`${workspaceId} ${agentId}`)?.since,
    set(presence, ttlMs) {
      const known = live(presence.thread_id).get(presence.agent_id);
      const before = known?.state ?? 'offline';
      const isSame = known !== undefined && before === presence.state;
      const since = presence.since ?? (isSame ? known.since : clock.now());
      const profile = presence.profile ?? known?.profile;
      const next: Held = {
        ...presence,
        since,
        until: clock.monotonic() + ttlMs,
        ...(profile === undefined ? {} : { profile }),
      };
      if (presence.state === 'offline') {
        if (known !== undefined) drop(next);
        return { since, before };
      }
      const agents = byThread.get(presence.thread_id) ?? new Map<string, Held>();
      byThread.set(presence.thread_id, agents.set(presence.agent_id, next));
      enter(next);
      if (timer === undefined) {
        timer = setInterval(sweep, SWEEP_MS);
        timer.unref();
      }
      // A state that is only kept alive is no news.
      if (before !== presence.state || presence.profile !== undefined) {
        const { until: _until, ...shown } = next;
        tell(shown);
      }
      return { since, before };
    },
    of: present,
    everybody: (workspaceId) => agentsOf(workspaceId).flatMap((agent) => ofAgent(workspaceId, agent)),
    ofAgent,
    agents: (workspaceId) =>
      agentsOf(workspaceId).filter((agent) =>
        [...(threadsByAgent.get(workspaceId)?.get(agent) ?? [])].some((threadId) => heldBy(threadId, agent)),
      ),
    settled: () => Promise.resolve(),
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      clearInterval(timer);
      listeners.clear();
    },
  };
}
