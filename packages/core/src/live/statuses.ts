import { type AgentView, type Caller, HUB_NAME, type LiveMessage } from '@parley/protocol';

import type { Clock } from '../clock.ts';
import { mayOverride } from '../threads/status.ts';
import type { Outgoing } from './outgoing.ts';
import type { Registry } from './registry.ts';
import type { Roster } from './roster.ts';

type Status = Exclude<LiveMessage<'status_update'>['payload'], { jwe: string }>;

/** Keeps the registry and all who watch a workspace informed of who is there. */
export interface Statuses {
  /** An agent has said how it is: stored, then shown. */
  update(caller: Caller, status: Status): Promise<void>;
  /** A status was stored by another face: shown only. */
  noticed(caller: Caller, status: Status): void;
  /** The last connection of an agent has ended. */
  gone(caller: Caller): void;
  /** A status as others see it, with the hub's own time. */
  seen(status: Status): Status;
  lastKnown(view: AgentView, connected: boolean): Status;
  /** Sends one message to all who watch the workspace; what was said in a thread to those alone who may read them all. */
  publish(workspaceId: string, message: LiveMessage, inThread?: boolean): void;
}

export function createStatuses(deps: {
  clock: Clock;
  roster: Roster;
  registry: Registry;
  outgoing: Outgoing;
  onFault: (error: unknown) => void;
}): Statuses {
  const { clock, roster, registry, outgoing, onFault } = deps;
  /** What each agent that is there has last said. */
  const statusByAgent = new Map<string, Status>();

  function publish(workspaceId: string, message: LiveMessage, inThread = false): void {
    for (const link of roster.watchers(workspaceId))
      if (!inThread || mayOverride(link.caller)) link.offer(message);
  }

  function show({ workspace_id, agent_id }: Caller, status: Status, source = agent_id): void {
    publish(workspace_id, outgoing.message('status_update', source, undefined, seen(status)));
  }

  function seen({ requestId: _requestId, ...status }: Status): Status {
    return { ...status, lastSeen: new Date(clock.now()).toISOString() };
  }

  function noticed(caller: Caller, status: Status): void {
    if (roster.session(caller) !== undefined) statusByAgent.set(keyOf(caller), status);
    show(caller, status);
  }

  return {
    noticed,
    seen,
    publish,
    async update(caller, status) {
      await registry.updateStatus(caller, status);
      noticed(caller, status);
    },
    gone(caller) {
      const last = statusByAgent.get(keyOf(caller));
      if (last === undefined) return;
      statusByAgent.delete(keyOf(caller));
      show(caller, { ...last, status: 'offline' }, HUB_NAME);
      registry.offline(caller).catch(onFault);
    },
    lastKnown({ agent_id, capabilities, status, last_seen, metadata }, connected) {
      return {
        agentId: agent_id,
        status: connected ? status : 'offline',
        lastSeen: last_seen,
        capabilities,
        ...(metadata === undefined ? {} : { metadata }),
      };
    },
  };
}

function keyOf({ workspace_id, agent_id }: Caller): string {
  return `${workspace_id} ${agent_id}`;
}
