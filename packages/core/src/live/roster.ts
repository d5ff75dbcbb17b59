import type { Caller } from '@parley/protocol';

import { CLOSE, type Link } from './link.ts';

/** Everyone who is connected, by workspace: no question asked here ever crosses one. */
export interface Roster {
  /** A connection begins; an older one of the same session is closed. */
  join(link: Link): void;
  /** A connection has ended; true when its agent has no other. */
  leave(link: Link): boolean;
  /** The one connection on which an agent gets commands: of those that registered the newest, else the newest that may answer. */
  current(workspaceId: string, agentId: string): Link | undefined;
  /** The connection of a caller's own session. */
  session(caller: Caller): Link | undefined;
  /** All connections of a workspace, by agent. */
  of(workspaceId: string): ReadonlyMap<string, readonly Link[]>;
  /** Agents that take commands: workers, and whoever has registered. */
  agents(workspaceId: string): string[];
  watch(link: Link): void;
  unwatch(link: Link): void;
  watchers(workspaceId: string): ReadonlySet<Link>;
  readonly size: number;
  /** How many agents these connections belong to. */
  readonly agentCount: number;
}

interface Workspace {
  linksByAgent: Map<string, Link[]>;
  watchers: Set<Link>;
}

const nobody: ReadonlySet<Link> = new Set();
const noLinks: ReadonlyMap<string, readonly Link[]> = new Map();

export function createRoster(): Roster {
  const workspaces = new Map<string, Workspace>();
  let size = 0;

  function links(workspaceId: string, agentId: string): readonly Link[] {
    return workspaces.get(workspaceId)?.linksByAgent.get(agentId) ?? [];
  }

  const roster: Roster = {
    join(link) {
      const { workspace_id, agent_id } = link.caller;
      const older = roster.session(link.caller);
      if (older !== undefined) {
        roster.leave(older);
        older.close(CLOSE.replaced, 'this session has connected again');
      }
      let workspace = workspaces.get(workspace_id);
      if (workspace === undefined)
        workspaces.set(workspace_id, (workspace = { linksByAgent: new Map(), watchers: new Set() }));
      const own = workspace.linksByAgent.get(agent_id);
      if (own === undefined) workspace.linksByAgent.set(agent_id, [link]);
      else own.push(link);
      size++;
    },
    leave(link) {
      const { workspace_id, agent_id } = link.caller;
      const workspace = workspaces.get(workspace_id);
      const own = workspace?.linksByAgent.get(agent_id);
      const at = own?.indexOf(link) ?? -1;
      if (workspace === undefined || own === undefined || at < 0) return false;
      workspace.watchers.delete(link);
      own.splice(at, 1);
      size--;
      if (own.length > 0) return false;
      workspace.linksByAgent.delete(agent_id);
      if (workspace.linksByAgent.size === 0) workspaces.delete(workspace_id);
      return true;
    },
    current(workspaceId, agentId) {
      const own = links(workspaceId, agentId).filter(
        ({ listening, caller }) => listening && caller.read_only !== true,
      );
      return own.findLast(({ registered }) => registered) ?? own.at(-1);
    },
    session({ workspace_id, agent_id, session_id }) {
      return links(workspace_id, agent_id).find(({ caller }) => caller.session_id === session_id);
    },
    of: (workspaceId) => workspaces.get(workspaceId)?.linksByAgent ?? noLinks,
    agents(workspaceId) {
      return [...roster.of(workspaceId)].flatMap(([agentId, own]) =>
        own.some(({ registered, caller }) => registered || caller.role === 'worker') ? [agentId] : [],
      );
    },
    watch(link) {
      workspaces.get(link.caller.workspace_id)?.watchers.add(link);
    },
    unwatch(link) {
      workspaces.get(link.caller.workspace_id)?.watchers.delete(link);
    },
    watchers: (workspaceId) => workspaces.get(workspaceId)?.watchers ?? nobody,
    get agentCount() {
      let count = 0;
      for (const { linksByAgent } of workspaces.values()) count += linksByAgent.size;
      return count;
    },
    get size() {
      return size;
    },
  };
  return roster;
}
