import type { SessionName } from '../agents/ports.ts';
import type { Connection } from '../sessions/gone.ts';
import type { Link } from './link.ts';
import { isHere } from './remote-link.ts';

/** Everyone who is connected, by workspace: no question asked here ever crosses one. */
export interface Roster {
  /** A connection begins; an older one of the same session is closed. */
  join(link: Link): void;
  /** A connection has ended; true when its agent has no other. */
  leave(link: Link): boolean;
  /** The one connection on which an agent gets commands: of those that registered the newest, else the newest that may answer. */
  current(workspaceId: string, agentId: string): Link | undefined;
  /** The connections of an agent that may each be meant by a command; with a session only that one's. */
  takers(workspaceId: string, agentId: string, command: string | undefined, sessionId?: string): Link[];
  /** The connection of a caller's own session, to whichever node. */
  session(caller: SessionName): Link | undefined;
  /** The same where it is to this node. */
  own(caller: SessionName): Link | undefined;
  /** Every connection to this node. */
  local(): Link[];
  /** Whether a session is connected; of one that took commands also since when it is not. */
  connection(name: SessionName): Connection;
  /** All connections of a workspace, by agent. */
  of(workspaceId: string): ReadonlyMap<string, readonly Link[]>;
  /** Every connection of a workspace to this node. */
  everyone(workspaceId: string): Link[];
  /** Agents that take commands: workers, and whoever has registered. */
  agents(workspaceId: string): string[];
  watch(link: Link): void;
  unwatch(link: Link): void;
  watchers(workspaceId: string): ReadonlySet<Link>;
  /** How many connections there are to this node. */
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

/** How many sessions are remembered that have lost their connection. */
const REMEMBERED = 10_000;

export function createRoster(now: () => number): Roster {
  const workspaces = new Map<string, Workspace>();
  const lostBySession = new Map<string, number>();
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
        older.replaced();
      }
      lostBySession.delete(keyOf(link.caller));
      let workspace = workspaces.get(workspace_id);
      if (workspace === undefined)
        workspaces.set(workspace_id, (workspace = { linksByAgent: new Map(), watchers: new Set() }));
      const own = workspace.linksByAgent.get(agent_id);
      if (own === undefined) workspace.linksByAgent.set(agent_id, [link]);
      else own.push(link);
      if (isHere(link)) size++;
    },
    leave(link) {
      const { workspace_id, agent_id } = link.caller;
      const workspace = workspaces.get(workspace_id);
      const own = workspace?.linksByAgent.get(agent_id);
      const at = own?.indexOf(link) ?? -1;
      if (workspace === undefined || own === undefined || at < 0) return false;
      workspace.watchers.delete(link);
      own.splice(at, 1);
      if (link.registered) lostBySession.set(keyOf(link.caller), now());
      const [oldest] = lostBySession.keys();
      if (lostBySession.size > REMEMBERED && oldest !== undefined) lostBySession.delete(oldest);
      if (isHere(link)) size--;
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
    takers(workspaceId, agentId, command, sessionId) {
      const own = links(workspaceId, agentId).filter(
        ({ listening, caller }) => listening && caller.read_only !== true,
      );
      if (sessionId !== undefined) return own.filter(({ caller }) => caller.session_id === sessionId);
      const registered = own.filter((link) => link.registered);
      if (registered.length === 0) return own.slice(-1);
      const taking = registered.filter(
        ({ takes = [] }) => takes.length === 0 || command === undefined || takes.includes(command),
      );
      // None takes it: the newest says so.
      return taking.length > 0 ? taking : registered.slice(-1);
    },
    session({ workspace_id, agent_id, session_id }) {
      return links(workspace_id, agent_id).find(({ caller }) => caller.session_id === session_id);
    },
    own(name) {
      const { workspace_id, agent_id, session_id } = name;
      return links(workspace_id, agent_id).find(
        (link) => isHere(link) && link.caller.session_id === session_id,
      );
    },
    local: () => [...workspaces.keys()].flatMap((id) => roster.everyone(id)),
    connection(name) {
      if (roster.session(name) !== undefined) return 'connected';
      const lost = lostBySession.get(keyOf(name));
      return lost === undefined ? undefined : { lost };
    },
    of: (workspaceId) => workspaces.get(workspaceId)?.linksByAgent ?? noLinks,
    everyone: (workspaceId) => [...roster.of(workspaceId).values()].flat().filter(isHere),
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
      for (const { linksByAgent } of workspaces.values())
        for (const own of linksByAgent.values()) if (own.some(isHere)) count++;
      return count;
    },
    get size() {
      return size;
    },
  };
  return roster;
}

function keyOf({ workspace_id, agent_id, session_id }: SessionName): string {
  return JSON.stringify([workspace_id, agent_id, session_id]);
}
