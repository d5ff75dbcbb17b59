import { type AgentView, type Caller, HUB_NAME } from '@parley/protocol';

import type { Clock } from '../clock.ts';
import { mayRead } from '../threads/access.ts';
import type { Link } from './link.ts';
import type { LiveStatus, LiveUpdate, Updates } from './live-update.ts';
import type { OtherNodes, Shown } from './other-nodes.ts';
import type { Registry } from './registry.ts';
import { sessionOf } from './remote-link.ts';
import type { Roster } from './roster.ts';

/** Who is not to be shown an update that is for everybody. */
interface Audience {
  /** Those who have it already, or have said it. */
  except?: ReadonlySet<Link | undefined>;
  /** Only those who may read this thread. */
  threadId?: string | undefined;
  /** Only those who have asked to watch: it is addressed to one. */
  watching?: boolean;
  /** The status questions that it answers at other nodes. */
  answers?: Shown['answers'];
}

/** Keeps the registry and all who watch a workspace informed of who is there. */
export interface Statuses {
  /** An agent has said how it is: stored, and remembered for when it goes. A key is used once. */
  keep(caller: Caller, status: LiveStatus, key?: string): Promise<void>;
  /** A status was stored: all are shown it. */
  noticed(caller: Caller, status: LiveStatus): void;
  /** The last connection of an agent has ended. */
  gone(caller: Caller): void;
  /** A status as others see it, with the hub's own time. */
  seen(status: LiveStatus): LiveStatus;
  lastKnown(view: AgentView, connected: boolean): LiveStatus;
  /** Sends one update to everybody who is connected and may see it, whichever node they are at. */
  publish(workspaceId: string, update: LiveUpdate, to?: Audience): Promise<void>;
  /** Sends it to those who are connected to this node. */
  publishHere(workspaceId: string, update: LiveUpdate, to: Audience): Promise<void>;
}

export function createStatuses(deps: {
  clock: Clock;
  roster: Roster;
  registry: Registry;
  updates: Updates;
  others: () => Pick<OtherNodes, 'show'> | undefined;
  onFault: (error: unknown) => void;
}): Statuses {
  const { clock, roster, registry, updates, others, onFault } = deps;
  /** What each agent that is there has last said. */
  const statusByAgent = new Map<string, LiveStatus>();

  function publish(workspaceId: string, update: LiveUpdate, to: Audience = {}): Promise<void> {
    const { except, threadId, watching, answers } = to;
    others()?.show({
      workspace_id: workspaceId,
      update,
      except: [...(except ?? [])].flatMap((link) => (link === undefined ? [] : [sessionOf(link.caller)])),
      threadId,
      watching,
      answers,
    });
    return publishHere(workspaceId, update, to);
  }

  async function publishHere(workspaceId: string, update: LiveUpdate, to: Audience): Promise<void> {
    const { except, threadId, watching = false } = to;
    const located = threadId === undefined ? undefined : await registry.locate(workspaceId, threadId);
    for (const link of watching ? roster.watchers(workspaceId) : roster.everyone(workspaceId))
      if (except?.has(link) !== true && (located === undefined || mayRead(located, link.caller)))
        link.offer(update);
  }

  function show(caller: Caller, status: LiveStatus, from = caller.agent_id): void {
    const update = updates.make('status', from, undefined, { body: seen(status) });
    const except = new Set([roster.session(caller)]);
    publish(caller.workspace_id, update, { except }).catch(onFault);
  }

  function seen(status: LiveStatus): LiveStatus {
    return { ...status, last_seen: new Date(clock.now()).toISOString() };
  }

  function remember(caller: Caller, status: LiveStatus): void {
    if (roster.session(caller) !== undefined) statusByAgent.set(keyOf(caller), status);
  }

  return {
    noticed(caller, status) {
      remember(caller, status);
      show(caller, status);
    },
    seen,
    publish,
    publishHere,
    async keep(caller, status, key) {
      await registry.updateStatus(caller, status, key);
      remember(caller, status);
    },
    gone(caller) {
      const last = statusByAgent.get(keyOf(caller));
      statusByAgent.delete(keyOf(caller));
      if (last !== undefined) show(caller, { ...last, status: 'offline' }, HUB_NAME);
      // An agent that never said a word was there all the same: it is known from now on.
      if (last !== undefined || isAgent(caller)) registry.offline(caller).catch(onFault);
    },
    lastKnown({ agent_id, instances, capabilities, status, last_seen, metadata }, connected) {
      return {
        name: instances?.at(-1) ?? agent_id,
        status: connected ? status : 'offline',
        last_seen,
        capabilities,
        ...(metadata === undefined ? {} : { metadata }),
      };
    },
  };
}

function keyOf({ workspace_id, agent_id }: Caller): string {
  return `${workspace_id} ${agent_id}`;
}

/** Those who work, and not the people who look at them. */
function isAgent({ role, read_only }: Caller): boolean {
  return (role === 'worker' || role === 'orchestrator') && read_only !== true;
}
