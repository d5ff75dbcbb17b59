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
}

/** Who is where, in memory only; times are the hub's own and no client's. */
export interface PresenceBoard {
  set(presence: Omit<Presence, 'since'>, ttlMs: number): { since: number; before: PresenceState };
  /** Those present in a thread now, by agent. */
  of(threadId: string): ReadonlyMap<string, Presence>;
  /** Where an agent is present now. */
  ofAgent(workspaceId: string, agentId: string): Presence[];
  /** Everybody present somewhere in a workspace. */
  agents(workspaceId: string): string[];
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
  const listeners = new Set<(presence: Presence) => void>();
  let timer: NodeJS.Timeout | undefined;

  function tell(presence: Presence): void {
    for (const listener of listeners) listener(presence);
  }

  function drop(held: Held): void {
    const agents = byThread.get(held.thread_id);
    agents?.delete(held.agent_id);
    if (agents?.size === 0) byThread.delete(held.thread_id);
    const { until: _until, ...presence } = held;
    tell({ ...presence, state: 'offline', since: clock.now() });
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

  return {
    set(presence, ttlMs) {
      const known = live(presence.thread_id).get(presence.agent_id);
      const before = known?.state ?? 'offline';
      const since = known !== undefined && before === presence.state ? known.since : clock.now();
      const profile = presence.profile ?? known?.profile;
      const held: Held = {
        ...presence,
        since,
        until: clock.monotonic() + ttlMs,
        ...(profile === undefined ? {} : { profile }),
      };
      if (presence.state === 'offline') {
        if (known !== undefined) drop(held);
        return { since, before };
      }
      const agents = byThread.get(presence.thread_id) ?? new Map<string, Held>();
      byThread.set(presence.thread_id, agents.set(presence.agent_id, held));
      if (timer === undefined) {
        timer = setInterval(sweep, SWEEP_MS);
        timer.unref();
      }
      // A state that is only kept alive is no news.
      if (before !== presence.state || presence.profile !== undefined) {
        const { until: _until, ...shown } = held;
        tell(shown);
      }
      return { since, before };
    },
    of: live,
    ofAgent: (workspaceId, agentId) =>
      [...byThread.keys()].flatMap((threadId) => {
        const held = live(threadId).get(agentId);
        return held !== undefined && held.workspace_id === workspaceId ? [held] : [];
      }),
    agents: (workspaceId) =>
      [...byThread.keys()].flatMap((threadId) =>
        [...live(threadId).values()]
          .filter((held) => held.workspace_id === workspaceId)
          .map(({ agent_id }) => agent_id),
      ),
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
