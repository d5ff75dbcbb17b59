import type { Caller } from '@parley/protocol';

import type { Clock } from '../clock.ts';
import type { Command } from '../commands.ts';
import type { Committed, Reached, Store } from '../store.ts';
import { type Unread, type UnreadDeps, unreadOf } from './unread.ts';

/** What each agent has not read, kept until something happens that changes it. */
export interface UnreadCache {
  of(workspaceId: string, agentId: string): Promise<Unread>;
  /** Something was written: of whom it may tell another story is found when somebody asks. */
  noticed: (command: Command, committed: Committed) => void;
  /** These threads have come further, by whoever's hand. */
  touched: (reached: readonly Reached[]) => void;
  /** An agent was given something, or has read. */
  forget: (who: Pick<Caller, 'workspace_id' | 'agent_id'>) => void;
}

interface Known {
  value: Promise<Unread>;
  /** From when on it is counted anew. */
  until: number;
  at: number;
}

interface Workspace {
  knownByAgent: Map<string, Known>;
  /** Who had something unread in a thread: who leaves it is no participant any more. */
  agentsByThread: Map<string, Set<string>>;
  /** Threads with new entries since somebody asked. */
  touched: Set<string>;
  settling: Promise<void>;
}

/** How many agents of one workspace are remembered; with more the eldest are counted anew. */
const REMEMBERED = 20_000;
const WORKSPACES = 1_000;
/** After so many threads it is cheaper to begin anew. */
const MOST_TOUCHED = 1_000;
/** However quiet it is, nothing is believed for longer: another process may write to the same log. */
const LONGEST_MS = 30_000;

/** The cache of one process. */
export function createUnreadCache(
  deps: Omit<UnreadDeps, 'offers'> & { store: Store; clock: Clock; offers: () => UnreadDeps['offers'] },
): UnreadCache {
  const workspaces = new Map<string, Workspace>();

  function workspaceOf(workspaceId: string): Workspace {
    const known = workspaces.get(workspaceId);
    if (known !== undefined) return known;
    const [eldest] = workspaces.keys();
    if (workspaces.size >= WORKSPACES && eldest !== undefined) workspaces.delete(eldest);
    const fresh: Workspace = {
      knownByAgent: new Map(),
      agentsByThread: new Map(),
      touched: new Set(),
      settling: Promise.resolve(),
    };
    workspaces.set(workspaceId, fresh);
    return fresh;
  }

  /** Forgets what is known of those whom the touched threads concern. */
  async function settle(
    workspace_id: string,
    { touched, knownByAgent, agentsByThread }: Workspace,
  ): Promise<void> {
    const threads = [...touched];
    touched.clear();
    await Promise.all(
      threads.map(async (thread_id) => {
        for (const agent of agentsByThread.get(thread_id) ?? []) knownByAgent.delete(agent);
        agentsByThread.delete(thread_id);
        const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
        const { located } = await deps.store.page(query);
        for (const agent of located.thread?.participants ?? []) knownByAgent.delete(agent);
      }),
    );
  }

  function count(workspace_id: string, workspace: Workspace, agent: string, now: number): Known {
    const ports = { ...deps, offers: deps.offers() };
    const known: Known = {
      value: unreadOf(ports, workspace_id, agent, now),
      at: now,
      until: now + LONGEST_MS,
    };
    known.value.then(
      ({ threads, changes_at = Infinity }) => {
        known.until = Math.min(known.until, changes_at);
        for (const thread of threads) {
          const agents = workspace.agentsByThread.get(thread) ?? new Set();
          workspace.agentsByThread.set(thread, agents.add(agent));
        }
      },
      () => workspace.knownByAgent.delete(agent),
    );
    return known;
  }

  const forget: UnreadCache['forget'] = ({ workspace_id, agent_id }) =>
    void workspaces.get(workspace_id)?.knownByAgent.delete(agent_id);

  return {
    async of(workspaceId, agentId) {
      const workspace = workspaceOf(workspaceId);
      const { knownByAgent, touched } = workspace;
      if (touched.size > 0) workspace.settling = settle(workspaceId, workspace);
      await workspace.settling;
      const now = deps.clock.now();
      const known = knownByAgent.get(agentId);
      if (known !== undefined && now >= known.at && now < known.until) return known.value;
      const [eldest] = knownByAgent.keys();
      if (knownByAgent.size >= REMEMBERED && eldest !== undefined) knownByAgent.delete(eldest);
      const fresh = count(workspaceId, workspace, agentId, now);
      knownByAgent.delete(agentId);
      knownByAgent.set(agentId, fresh);
      return fresh.value;
    },
    noticed(command, { reached = [] }) {
      if (command.type === 'ack_read') forget(command.caller);
      wrote(reached);
    },
    touched: wrote,
    forget,
  };

  function wrote(reached: readonly Reached[]): void {
    for (const { workspace_id, thread_id } of reached) {
      const workspace = workspaces.get(workspace_id);
      if (workspace === undefined) continue;
      workspace.touched.add(thread_id);
      if (workspace.touched.size > MOST_TOUCHED) workspaces.delete(workspace_id);
    }
  }
}
